"""SAMPLE: which segments to show the raters, and how stable the ranking will be."""

from assay.sampling.draw import sample
from assay.sampling.next import NextSegment, NextSegments, next_segments
from assay.sampling.stability import Stability, stability, summarise_stability
from assay.sampling.summary import SampleSummary, summarise
from assay.sampling.top_up import top_up

__all__ = [
    "NextSegment",
    "NextSegments",
    "SampleSummary",
    "Stability",
    "next_segments",
    "sample",
    "stability",
    "summarise",
    "summarise_stability",
    "top_up",
]
