"""RANK: systems in order from judgments or ratings, with rank ranges and clusters."""
