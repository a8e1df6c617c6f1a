"""Results while a campaign runs: what a look saw, the newest result, systems that rest."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, Integer, PrimaryKeyConstraint, Text

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    """Add columns and the table of the newest result."""
    op.add_column("system", Column("rests", Integer))
    op.add_column("task", Column("chosen", JSON))
    op.add_column("look", Column("seen", JSON))
    op.create_table(
        "live", Column("id", Integer), Column("number", Integer, nullable=False),
        Column("at", BigInteger, nullable=False), Column("basis", Text, nullable=False),
        Column("result", Text, nullable=False), Column("sets", JSON),
        PrimaryKeyConstraint("id", name="pk_live"),
    )  # fmt: skip
