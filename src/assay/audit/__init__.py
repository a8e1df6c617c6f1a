"""AUDIT: a finished campaign under the loupe."""
