"""AUDIT: a finished campaign examined."""
