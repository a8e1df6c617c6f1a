"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""

from assay.estimation.estimate import estimate
from assay.estimation.results import Difference, Estimates, SystemEstimate

__all__ = ["Difference", "Estimates", "SystemEstimate", "estimate"]
