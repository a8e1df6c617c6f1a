"""Plans: how each design draws, on arrays. One module per family of designs.

A plan is made once for a test set and a budget. It states the exact inclusion probability of
every segment and draws any number of samples, each a set of windows of the reading order.
"""

from assay.sampling.plans.base import Draws, Layout, Plan
from assay.sampling.plans.documents import DocumentsPlan, FixedSnippetsPlan
from assay.sampling.plans.segments import (
    BalancedPlan,
    InterleavedPlan,
    SegmentsPlan,
    StratifiedPlan,
)
from assay.sampling.plans.snippets import CircularPlan, LinearPlan, TilesPlan

__all__ = [
    "BalancedPlan",
    "CircularPlan",
    "DocumentsPlan",
    "Draws",
    "FixedSnippetsPlan",
    "InterleavedPlan",
    "Layout",
    "LinearPlan",
    "Plan",
    "SegmentsPlan",
    "StratifiedPlan",
    "TilesPlan",
]
