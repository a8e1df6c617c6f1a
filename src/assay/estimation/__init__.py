"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""

from assay.estimation.breakdown import Breakdown, GroupEstimate, GroupSummary, estimate_by
from assay.estimation.estimate import estimate
from assay.estimation.evaluate import EvaluationRecord, evaluate_estimators
from assay.estimation.evaluation import Evaluation, MethodEvaluation, summarise_evaluation
from assay.estimation.power import Comparison, compare_two, next_steps
from assay.estimation.rater_results import RaterEstimate, RaterReport, RaterSummary
from assay.estimation.raters import exclude_raters, rater_report, remove_severity
from assay.estimation.results import Difference, Estimates, SystemEstimate
from assay.estimation.stopping import Look, Monitored, Monitoring, monitor
from assay.estimation.stopping_evaluation import StoppingRecord, evaluate_stopping

__all__ = [
    "Breakdown",
    "Comparison",
    "Difference",
    "Estimates",
    "Evaluation",
    "EvaluationRecord",
    "GroupEstimate",
    "GroupSummary",
    "Look",
    "MethodEvaluation",
    "Monitored",
    "Monitoring",
    "RaterEstimate",
    "RaterReport",
    "RaterSummary",
    "StoppingRecord",
    "SystemEstimate",
    "compare_two",
    "estimate",
    "estimate_by",
    "evaluate_estimators",
    "evaluate_stopping",
    "exclude_raters",
    "monitor",
    "next_steps",
    "rater_report",
    "remove_severity",
    "summarise_evaluation",
]
