"""Simulated raters: they work through HTTP as people do, and know what they think of every text."""
