"""RANK: systems in order from judgments or ratings, with rank ranges and clusters."""

from assay.ranking.rank import rank
from assay.ranking.ratings import rank_ratings
from assay.ranking.results import PairComparison, Ranking, SystemRank

__all__ = ["PairComparison", "Ranking", "SystemRank", "rank", "rank_ratings"]
