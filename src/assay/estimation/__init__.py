"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""

from assay.estimation.estimate import estimate
from assay.estimation.evaluate import EvaluationRecord, evaluate_estimators
from assay.estimation.evaluation import Evaluation, MethodEvaluation, summarise_evaluation
from assay.estimation.rater_results import RaterReport, RaterSummary
from assay.estimation.raters import exclude_raters, rater_report, remove_severity
from assay.estimation.results import Difference, Estimates, SystemEstimate
from assay.estimation.stopping import Look, Monitored, Monitoring, monitor
from assay.estimation.stopping_evaluation import StoppingRecord, evaluate_stopping

__all__ = [
    "Difference",
    "Estimates",
    "Evaluation",
    "EvaluationRecord",
    "Look",
    "MethodEvaluation",
    "Monitored",
    "Monitoring",
    "RaterReport",
    "RaterSummary",
    "StoppingRecord",
    "SystemEstimate",
    "estimate",
    "evaluate_estimators",
    "evaluate_stopping",
    "exclude_raters",
    "monitor",
    "rater_report",
    "remove_severity",
    "summarise_evaluation",
]
