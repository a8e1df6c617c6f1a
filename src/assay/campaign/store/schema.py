"""The tables of a campaign.

What came in (``artifact``, ``text``, ``segment``, ``system``, ``output``, ``task``, ``slot``) is
written once. What people do is appended to ``sent``, ``answer``, ``span``, ``keylog`` and ``event``
and never changed; all other tables say how things stand and can be made again from those.
``look`` has one row for each planned look that took place, with what was ``seen``: which rows of
``sent``, and who was left out. ``live`` is one row, the newest result. A system ``rests`` from a
look on; what a task then holds is ``chosen`` when it is first given out.
Times are milliseconds since 1970, UTC, of the server's clock.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

METADATA = MetaData(
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


campaign = Table(
    "campaign", METADATA, _id(),
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
artifact = Table(
    "artifact", METADATA,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip
stored_text = Table(
    "text", METADATA, Column("hash", Text, primary_key=True), Column("body", Text, nullable=False)
)
media = Table(
    "media", METADATA, Column("hash", Text, primary_key=True),
    Column("code", Text, nullable=False, unique=True),
    Column("type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip
system = Table(
    "system", METADATA, _id(),
    Column("name", Text, nullable=False, unique=True),
    Column("rests", Integer),
)  # fmt: skip
segment = Table(
    "segment", METADATA, _id(),
    Column("lp", Text), Column("doc", Text), Column("seg", Text, nullable=False),
    Column("source", Text, ForeignKey("text.hash")),
    Column("media", JSON),
)  # fmt: skip
output = Table(
    "output", METADATA,
    _to("segment", "segment", primary=True), _to("system", "system", primary=True),
    Column("text", Text, ForeignKey("text.hash"), nullable=False),
)  # fmt: skip
task = Table(
    "task", METADATA, _id(),
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
    Column("body", JSON), Column("chosen", JSON),
)  # fmt: skip
slot = Table(
    "slot", METADATA, _to("task", "task", primary=True),
    Column("place", Integer, primary_key=True),
    _to("system", "system", primary=True),
    _to("shown_as", "system"),
    _to("segment", "segment"),
    Column("text", Text, ForeignKey("text.hash"), nullable=False),
    Column("spoiled", Boolean, nullable=False, server_default=text("false")),
)  # fmt: skip
link = Table(
    "link", METADATA, _id(),
    Column("role", Text, nullable=False),
    _to("rater", "rater", nullable=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger), Column("revoked", BigInteger),
)  # fmt: skip
rater = Table(
    "rater", METADATA, _id(),
    Column("name", Text, nullable=False, unique=True),
    Column("outside", Text, unique=True), Column("kept", JSON),
    Column("state", Text, nullable=False),
    Column("quota", Integer), Column("language", Text),
    Column("completion", Text, nullable=False),
    Column("consented", BigInteger),
    Column("done", Integer, nullable=False, server_default=text("0")),
    Column("active_ms", BigInteger, nullable=False, server_default=text("0")),
)  # fmt: skip
lease = Table(
    "lease", METADATA,
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
OPEN = lease.c.state == literal_column("'open'")
HELD = lease.c.state.in_((literal_column("'open'"), literal_column("'done'")))
FREE = task.c.free > literal_column("0")
"""Written out, as databases use an index over some rows for those words alone."""
Index("ix_task_free", task.c.kind, task.c.position, sqlite_where=FREE, postgresql_where=FREE)
Index("uq_lease_copy", lease.c.task, lease.c.copy, unique=True, sqlite_where=HELD,
      postgresql_where=HELD)  # fmt: skip
Index("ix_lease_open", lease.c.until, sqlite_where=OPEN, postgresql_where=OPEN)
shown = Table(
    "shown", METADATA,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    Column("code", Text, primary_key=True),
    _to("system", "system", nullable=True),
    Column("screen", Integer, nullable=False), Column("place", Integer, nullable=False),
    Column("label", Text, nullable=False),
)  # fmt: skip
draft = Table(
    "draft", METADATA,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    Column("screen", Integer, primary_key=True),
    Column("body", JSON, nullable=False), Column("at", BigInteger, nullable=False),
)  # fmt: skip
sent = Table(
    "sent", METADATA, _id(),
    Column("lease", Text, ForeignKey("lease.id"), nullable=False),
    Column("screen", Integer, nullable=False), Column("revision", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("at", BigInteger, nullable=False), Column("late", Boolean, nullable=False),
    Column("timing", JSON, nullable=False), Column("version", Text, nullable=False),
    Column("instructions", Text), Column("reply", JSON, nullable=False),
    UniqueConstraint("lease", "key"), UniqueConstraint("lease", "screen", "revision"),
)  # fmt: skip
answer = Table(
    "answer", METADATA, _id(),
    _to("sent", "sent", index=True),
    Column("code", Text), Column("place", Integer), Column("text", Text),
    Column("scores", JSON), Column("no_error", Boolean), Column("asked", Boolean),
    Column("choice", JSON),
    Column("edited", Text), Column("skipped", Text), Column("comment", Text),
)  # fmt: skip
span = Table(
    "span", METADATA, _id(),
    _to("answer", "answer", index=True),
    Column("side", Text, nullable=False),
    Column("start", Integer, nullable=False), Column("end", Integer, nullable=False),
    Column("severity", Text, nullable=False), Column("category", Text), Column("origin", Text),
    Column("missing", Boolean, nullable=False),
)  # fmt: skip
keylog = Table(
    "keylog", METADATA, _id(),
    _to("answer", "answer", index=True),
    Column("keys", JSON, nullable=False), Column("pauses", JSON, nullable=False),
    Column("sessions", JSON, nullable=False),
)  # fmt: skip
check_result = Table(
    "check_result", METADATA,
    Column("lease", Text, ForeignKey("lease.id"), primary_key=True),
    _to("system", "system", primary=True), Column("place", Integer, primary_key=True),
    Column("passed", Boolean), Column("at", BigInteger, nullable=False),
)  # fmt: skip
exclusion = Table(
    "exclusion", METADATA, _id(),
    _to("rater", "rater", index=True),
    Column("actor", Text, nullable=False), Column("at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("undone", BigInteger), Column("undone_by", Text),
)  # fmt: skip
look = Table(
    "look", METADATA, Column("number", Integer, primary_key=True),
    Column("n", Integer, nullable=False), Column("at", BigInteger, nullable=False),
    Column("result", JSON, nullable=False), Column("signature", Text, nullable=False),
    Column("verdict", JSON), Column("seen", JSON),
)  # fmt: skip
live = Table(
    "live", METADATA, _id(),
    Column("number", Integer, nullable=False), Column("at", BigInteger, nullable=False),
    Column("basis", Text, nullable=False),
    Column("result", Text, nullable=False), Column("sets", JSON),
)  # fmt: skip
event = Table(
    "event", METADATA, _id(),
    Column("at", BigInteger, nullable=False), Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False), Column("subject", Text, nullable=False),
    Column("body", JSON, nullable=False),
)  # fmt: skip
mark = Table(
    "mark", METADATA, _id(),
    _to("segment", "segment", index=True), _to("system", "system"),
    Column("body", JSON, nullable=False),
)  # fmt: skip
