"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""

from assay.estimation.estimate import estimate
from assay.estimation.evaluate import EvaluationRecord, evaluate_estimators
from assay.estimation.evaluation import Evaluation, MethodEvaluation, summarise_evaluation
from assay.estimation.results import Difference, Estimates, SystemEstimate

__all__ = [
    "Difference",
    "Estimates",
    "Evaluation",
    "EvaluationRecord",
    "MethodEvaluation",
    "SystemEstimate",
    "estimate",
    "evaluate_estimators",
    "summarise_evaluation",
]
