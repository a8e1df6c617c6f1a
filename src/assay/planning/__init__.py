"""PLAN: how much is needed, before anything is spent."""

from assay.planning.comparison import ComparisonPlan, plan_comparison
from assay.planning.editors import EditorsPlan, plan_editors
from assay.planning.judgments import JudgmentsPlan, plan_judgments
from assay.planning.ratings import RatingsPlan, plan_ratings

__all__ = [
    "ComparisonPlan",
    "EditorsPlan",
    "JudgmentsPlan",
    "RatingsPlan",
    "plan_comparison",
    "plan_editors",
    "plan_judgments",
    "plan_ratings",
]
