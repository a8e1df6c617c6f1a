"""SAMPLE: which segments to show the raters."""

from assay.sampling.draw import sample

__all__ = ["sample"]
