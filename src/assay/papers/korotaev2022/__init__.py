"""korotaev2022: picking out the best MT model by post-editing homogeneous documents."""
