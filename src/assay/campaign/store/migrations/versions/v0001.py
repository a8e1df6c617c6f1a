"""The first tables; a copy of the schema as it was then, which never changes."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

revision = "v0001"
down_revision = None

TABLES = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
APPEND_ONLY = ("sent", "answer", "span", "keylog", "event")
"""Tables whose rows are never changed: triggers refuse it."""


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(
    name: str, target: str, *, nullable: bool = False, index: bool = False, primary: bool = False
) -> Column[int]:
    return Column(
        name, Integer, ForeignKey(f"{target}.id"), nullable=nullable, index=index,
        primary_key=primary,
    )  # fmt: skip


Table(
    "campaign", TABLES, _id(),
    Column("slug", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("protocol", Text, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("settings_hash", Text, nullable=False),
    Column("instructions_hash", Text, ForeignKey("text.hash")),
    Column("consent_hash", Text, ForeignKey("text.hash")),
    Column("source_language", Text), Column("target_language", Text),
    Column("seed", BigInteger, nullable=False),
    Column("version", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)  # fmt: skip
Table(
    "artifact", TABLES,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip
Table("text", TABLES, Column("hash", Text, primary_key=True), Column("body", Text, nullable=False))
Table(
    "media", TABLES, Column("hash", Text, primary_key=True),
    Column("code", Text, nullable=False, unique=True),
    Column("type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip
Table("system", TABLES, _id(), Column("name", Text, nullable=False, unique=True))
Table(
    "segment", TABLES, _id(),
    Column("lp", Text), Column("doc", Text), Column("seg", Text, nullable=False),
    Column("source", Text, ForeignKey("text.hash")),
    Column("media", JSON),
)  # fmt: skip
Table(
    "output", TABLES,
    _to("segment", "segment", primary=True), _to("system", "system", primary=True),
    Column("text", Text, ForeignKey("text.hash"), nullable=False),
)  # fmt: skip
Table(
    "task", TABLES, _id(),
    Column("position", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    _to("parent", "task", nullable=True, index=True),
    Column("gap", Integer),
    Column("snippet", Integer, nullable=False),
    _to("first", "segment", nullable=True), _to("last", "segment", nullable=True),
    Column("outputs", Integer, nullable=False),
    Column("probability", Float), Column("stratum", Text),
    Column("block", Integer), Column("block_probability", Float),
    Column("wanted", Integer, nullable=False),
    Column("free", Integer, nullable=False),
    _to("rater", "rater", nullable=True),
    Column("declined", Integer, nullable=False, server_default=text("0")),
    Column("body", JSON),
)  # fmt: skip
Table(
    "slot", TABLES, _to("task", "task", primary=True),
    Column("place", Integer, primary_key=True),
    _to("system", "system", primary=True),
    _to("shown_as", "system"),
    _to("segment", "segment"),
    Column("text", Text, ForeignKey("text.hash"), nullable=False),
    Column("spoiled", Boolean, nullable=False, server_default=text("false")),
)  # fmt: skip
Table(
    "link", TABLES, _id(),
    Column("role", Text, nullable=False),
    _to("rater", "rater", nullable=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger), Column("revoked", BigInteger),
)  # fmt: skip
Table(
    "rater", TABLES, _id(),
    Column("name", Text, nullable=False, unique=True),
    Column("outside", Text, unique=True), Column("kept", JSON),
    Column("state", Text, nullable=False),
    Column("quota", Integer), Column("language", Text),
    Column("completion", Text, nullable=False),
    Column("consented", BigInteger),
    Column("done", Integer, nullable=False, server_default=text("0")),
    Column("active_ms", BigInteger, nullable=False, server_default=text("0")),
)  # fmt: skip
Table(
    "lease", TABLES,
    Column("id", Text, primary_key=True),
    _to("task", "task", index=True), _to("rater", "rater"),
    Column("copy", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("closed", BigInteger),
    Column("number", Integer),
    Column("screens", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("probability", Float),
    UniqueConstraint("rater", "task"),
)  # fmt: skip
Table(
    "shown", TABLES,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    Column("code", Text, primary_key=True),
    _to("system", "system", nullable=True),
    Column("screen", Integer, nullable=False), Column("place", Integer, nullable=False),
    Column("label", Text, nullable=False),
)  # fmt: skip
Table(
    "draft", TABLES,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    Column("screen", Integer, primary_key=True),
    Column("body", JSON, nullable=False), Column("at", BigInteger, nullable=False),
)  # fmt: skip
Table(
    "sent", TABLES, _id(),
    Column("lease", Text, ForeignKey("lease.id"), nullable=False),
    Column("screen", Integer, nullable=False), Column("revision", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("at", BigInteger, nullable=False), Column("late", Boolean, nullable=False),
    Column("timing", JSON, nullable=False), Column("version", Text, nullable=False),
    Column("instructions", Text), Column("reply", JSON, nullable=False),
    UniqueConstraint("lease", "key"), UniqueConstraint("lease", "screen", "revision"),
)  # fmt: skip
Table(
    "answer", TABLES, _id(),
    _to("sent", "sent", index=True),
    Column("code", Text), Column("place", Integer), Column("text", Text),
    Column("scores", JSON), Column("no_error", Boolean), Column("asked", Boolean),
    Column("choice", JSON),
    Column("edited", Text), Column("skipped", Text), Column("comment", Text),
)  # fmt: skip
Table(
    "span", TABLES, _id(),
    _to("answer", "answer", index=True),
    Column("side", Text, nullable=False),
    Column("start", Integer, nullable=False), Column("end", Integer, nullable=False),
    Column("severity", Text, nullable=False), Column("category", Text), Column("origin", Text),
    Column("missing", Boolean, nullable=False),
)  # fmt: skip
Table(
    "keylog", TABLES, _id(),
    _to("answer", "answer", index=True),
    Column("keys", JSON, nullable=False), Column("pauses", JSON, nullable=False),
    Column("sessions", JSON, nullable=False),
)  # fmt: skip
Table(
    "check_result", TABLES,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    _to("system", "system", primary=True), Column("place", Integer, primary_key=True),
    Column("passed", Boolean), Column("at", BigInteger, nullable=False),
)  # fmt: skip
Table(
    "exclusion", TABLES, _id(),
    _to("rater", "rater", index=True),
    Column("actor", Text, nullable=False), Column("at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("undone", BigInteger), Column("undone_by", Text),
)  # fmt: skip
Table(
    "look", TABLES, Column("number", Integer, primary_key=True),
    Column("n", Integer, nullable=False), Column("at", BigInteger, nullable=False),
    Column("result", JSON, nullable=False), Column("signature", Text, nullable=False),
    Column("verdict", JSON),
)  # fmt: skip
Table(
    "event", TABLES, _id(),
    Column("at", BigInteger, nullable=False), Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False), Column("subject", Text, nullable=False),
    Column("body", JSON, nullable=False),
)  # fmt: skip
Table(
    "mark", TABLES, _id(),
    _to("segment", "segment", index=True), _to("system", "system"),
    Column("body", JSON, nullable=False),
)  # fmt: skip

PARTIAL = (
    ("ix_task_free", "task", ("kind", "position"), False, "free > 0"),
    ("uq_lease_copy", "lease", ("task", "copy"), True, "state IN ('open', 'done')"),
    ("ix_lease_open", "lease", ("until",), False, "state = 'open'"),
)
"""Indexes over some of the rows."""


def upgrade() -> None:
    """Make the tables, and the triggers that keep what was appended."""
    TABLES.create_all(op.get_bind())
    for name, table, columns, unique, where in PARTIAL:
        op.create_index(
            name, table, list(columns), unique=unique, sqlite_where=text(where),
            postgresql_where=text(where),
        )  # fmt: skip
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION '% is append only', TG_TABLE_NAME; END $$"
        )
    for table in APPEND_ONLY:
        for change in ("UPDATE", "DELETE"):
            name = f"{table}_no_{change.lower()}"
            if op.get_bind().dialect.name == "postgresql":
                op.execute(
                    f"CREATE TRIGGER {name} BEFORE {change} ON {table}"
                    " FOR EACH ROW EXECUTE FUNCTION refuse_change()"
                )
            else:
                op.execute(
                    f"CREATE TRIGGER {name} BEFORE {change} ON {table}"
                    f" BEGIN SELECT RAISE(ABORT, '{table} is append only'); END"
                )
