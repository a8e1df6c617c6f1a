"""Assay: how good translation systems are, and how sure one can be, from few human judgments.

The pipeline, plan -> sample -> collect -> estimate / rank -> report::

    import assay

    test_set = assay.read_scores("scores.tsv")
    sample = assay.sample(test_set, budget="20%", rng=7)
    sample.write("sample.tsv")
    # ... raters score the drawn segments ...
    ratings = assay.read_ratings("ratings.tsv", test_set, better="lower")
    estimates = assay.estimate(test_set, ratings, sample=sample)
    assay.write_report(estimates, "report.html")

    ranking = assay.rank(assay.read_judgments("judgments.tsv"))  # or from pairwise judgments
"""

from importlib import import_module
from typing import TYPE_CHECKING

from assay._version import __version__

if TYPE_CHECKING:
    from assay.audit import Audit, audit_judgments, audit_ratings
    from assay.engine import Cluster
    from assay.estimation import (
        Breakdown,
        Comparison,
        Difference,
        Estimates,
        Monitoring,
        SystemEstimate,
        compare_two,
        estimate,
        estimate_by,
        evaluate_estimators,
        evaluate_stopping,
        exclude_raters,
        monitor,
        rater_report,
        remove_severity,
        summarise_evaluation,
    )
    from assay.kits import Kit, KitSet, Pieces, find_kits, read_pieces
    from assay.kits.build import build_kits
    from assay.kits.collect import collect_kits
    from assay.kits.designs import KitDesign, design_kits
    from assay.kits.effort import effort
    from assay.kits.effort_results import Effort
    from assay.planning import plan_comparison, plan_editors, plan_judgments, plan_ratings
    from assay.ranking import PairComparison, Ranking, SystemRank, rank, rank_ratings
    from assay.ranking.best import next_sets
    from assay.ranking.sigma import fit_sigma, match_sigma
    from assay.report import write_parts, write_report
    from assay.sampling import (
        next_segments,
        sample,
        stability,
        summarise,
        summarise_stability,
        top_up,
    )
    from assay.stats.intervals import Interval
    from assay.tables import (
        Design,
        Edits,
        Errors,
        Judgments,
        Ratings,
        Sample,
        TestSet,
        add_history,
        read_edits,
        read_errors,
        read_judgments,
        read_parts,
        read_ratings,
        read_sample,
        read_scores,
    )
    from assay.tables.convert import check, convert
    from assay.worlds import World, simulate, simulate_judgments

# Loaded when first used, so that `import assay` and `assay --help` cost next to nothing.
_HOMES = {
    "Audit": "assay.audit",
    "Breakdown": "assay.estimation",
    "Cluster": "assay.engine",
    "Comparison": "assay.estimation",
    "Design": "assay.tables",
    "Difference": "assay.estimation",
    "Edits": "assay.tables",
    "Effort": "assay.kits.effort_results",
    "Errors": "assay.tables",
    "Estimates": "assay.estimation",
    "Interval": "assay.stats.intervals",
    "Judgments": "assay.tables",
    "Kit": "assay.kits",
    "KitDesign": "assay.kits.designs",
    "KitSet": "assay.kits",
    "Monitoring": "assay.estimation",
    "PairComparison": "assay.ranking",
    "Pieces": "assay.kits",
    "Ranking": "assay.ranking",
    "Ratings": "assay.tables",
    "Sample": "assay.tables",
    "SystemEstimate": "assay.estimation",
    "SystemRank": "assay.ranking",
    "TestSet": "assay.tables",
    "World": "assay.worlds",
    "add_history": "assay.tables",
    "audit_judgments": "assay.audit",
    "audit_ratings": "assay.audit",
    "build_kits": "assay.kits.build",
    "check": "assay.tables.convert",
    "collect_kits": "assay.kits.collect",
    "compare_two": "assay.estimation",
    "convert": "assay.tables.convert",
    "design_kits": "assay.kits.designs",
    "effort": "assay.kits.effort",
    "estimate": "assay.estimation",
    "estimate_by": "assay.estimation",
    "evaluate_estimators": "assay.estimation",
    "evaluate_stopping": "assay.estimation",
    "exclude_raters": "assay.estimation",
    "find_kits": "assay.kits",
    "fit_sigma": "assay.ranking.sigma",
    "match_sigma": "assay.ranking.sigma",
    "monitor": "assay.estimation",
    "next_segments": "assay.sampling",
    "next_sets": "assay.ranking.best",
    "plan_comparison": "assay.planning",
    "plan_editors": "assay.planning",
    "plan_judgments": "assay.planning",
    "plan_ratings": "assay.planning",
    "rank": "assay.ranking",
    "rank_ratings": "assay.ranking",
    "rater_report": "assay.estimation",
    "read_edits": "assay.tables",
    "read_errors": "assay.tables",
    "read_judgments": "assay.tables",
    "read_parts": "assay.tables",
    "read_pieces": "assay.kits",
    "read_ratings": "assay.tables",
    "read_sample": "assay.tables",
    "read_scores": "assay.tables",
    "remove_severity": "assay.estimation",
    "sample": "assay.sampling",
    "simulate": "assay.worlds",
    "simulate_judgments": "assay.worlds",
    "stability": "assay.sampling",
    "summarise": "assay.sampling",
    "summarise_evaluation": "assay.estimation",
    "summarise_stability": "assay.sampling",
    "top_up": "assay.sampling",
    "write_parts": "assay.report",
    "write_report": "assay.report",
}

__all__ = [
    "Audit",
    "Breakdown",
    "Cluster",
    "Comparison",
    "Design",
    "Difference",
    "Edits",
    "Effort",
    "Errors",
    "Estimates",
    "Interval",
    "Judgments",
    "Kit",
    "KitDesign",
    "KitSet",
    "Monitoring",
    "PairComparison",
    "Pieces",
    "Ranking",
    "Ratings",
    "Sample",
    "SystemEstimate",
    "SystemRank",
    "TestSet",
    "World",
    "__version__",
    "add_history",
    "audit_judgments",
    "audit_ratings",
    "build_kits",
    "check",
    "collect_kits",
    "compare_two",
    "convert",
    "design_kits",
    "effort",
    "estimate",
    "estimate_by",
    "evaluate_estimators",
    "evaluate_stopping",
    "exclude_raters",
    "find_kits",
    "fit_sigma",
    "match_sigma",
    "monitor",
    "next_segments",
    "next_sets",
    "plan_comparison",
    "plan_editors",
    "plan_judgments",
    "plan_ratings",
    "rank",
    "rank_ratings",
    "rater_report",
    "read_edits",
    "read_errors",
    "read_judgments",
    "read_parts",
    "read_pieces",
    "read_ratings",
    "read_sample",
    "read_scores",
    "remove_severity",
    "sample",
    "simulate",
    "simulate_judgments",
    "stability",
    "summarise",
    "summarise_evaluation",
    "summarise_stability",
    "top_up",
    "write_parts",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
