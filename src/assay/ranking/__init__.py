"""RANK: systems in order from judgments or ratings, with rank ranges and clusters."""

from assay.ranking.rank import rank
from assay.ranking.ratings import rank_ratings
from assay.ranking.results import Comparison, Ranking, SystemRank

__all__ = ["Comparison", "Ranking", "SystemRank", "rank", "rank_ratings"]
