"""LOAD: the tables a user has, checked when read, immutable afterwards."""

from assay.tables.edits import Edits, read_edits
from assay.tables.history import add_history
from assay.tables.judgments import Judgments, read_judgments
from assay.tables.parts import Parts, read_parts
from assay.tables.ratings import Errors, Ratings, read_errors, read_ratings
from assay.tables.sample import Design, Sample, read_sample
from assay.tables.table import Table
from assay.tables.test_set import TestSet, read_scores

__all__ = [
    "Design",
    "Edits",
    "Errors",
    "Judgments",
    "Parts",
    "Ratings",
    "Sample",
    "Table",
    "TestSet",
    "add_history",
    "read_edits",
    "read_errors",
    "read_judgments",
    "read_parts",
    "read_ratings",
    "read_sample",
    "read_scores",
]
