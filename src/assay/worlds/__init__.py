"""Simulated truth: rated test sets of which everything is known."""
