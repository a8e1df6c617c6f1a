"""SAMPLE: which segments to show the raters, and how stable the ranking will be."""
