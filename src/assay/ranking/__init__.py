"""RANK: systems in order from judgments, with rank ranges and clusters."""
