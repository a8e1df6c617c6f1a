"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""

from assay.estimation.estimate import estimate
from assay.estimation.evaluate import EvaluationRecord, evaluate_estimators
from assay.estimation.evaluation import Evaluation, MethodEvaluation, summarise_evaluation
from assay.estimation.rater_results import RaterReport, RaterSummary
from assay.estimation.raters import exclude_raters, rater_report, remove_severity
from assay.estimation.results import Difference, Estimates, SystemEstimate

__all__ = [
    "Difference",
    "Estimates",
    "Evaluation",
    "EvaluationRecord",
    "MethodEvaluation",
    "RaterReport",
    "RaterSummary",
    "SystemEstimate",
    "estimate",
    "evaluate_estimators",
    "exclude_raters",
    "rater_report",
    "remove_severity",
    "summarise_evaluation",
]
