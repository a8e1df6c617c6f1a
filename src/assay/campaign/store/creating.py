"""Writing a new campaign to its store: all of it or nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, inspect, select, text
from sqlalchemy.exc import OperationalError

from assay._version import __version__
from assay.campaign.assignment import PlannedTask
from assay.campaign.contents import Contents
from assay.campaign.items import text_hash
from assay.campaign.protocols import make_protocol
from assay.campaign.store import schema as s
from assay.campaign.store.clock import Clock
from assay.campaign.store.opening import (
    FILE,
    Place,
    dump,
    first_line,
    make_engine,
    migrate,
    reachable,
    refuse_remote,
)
from assay.campaign.store.people import add_rater, new_link
from assay.campaign.store.unit import Rules, Unit
from assay.collecting.results import Links, RaterLink
from assay.errors import InputError
from assay.results import plain
from assay.tables.typed_files import parquet_bytes

LESSON_COPIES = 1_000_000
"""Copies of a lesson, more than there will ever be raters."""
MOST_SLUG = 200
"""Bytes: a folder's name may have 255, and a suffix is added while it is made."""
ROWS_AT_ONCE = 20_000
"""Rows of one statement."""


def write_campaign(folder: Path, store: str | None, contents: Contents) -> Links:
    """Write a campaign to a new file in a folder, or to an empty PostgreSQL database."""
    if store is not None and "://" in store:
        place = Place.of(store)
        engine = make_engine(place, write=True)
        try:
            reachable(engine, place)
            if inspect(engine).has_table("campaign"):
                raise InputError(f"{place} holds a campaign already; name an empty database")
            with engine.begin() as db:
                return _fill(db, contents)
        finally:
            engine.dispose()
    target = folder / FILE
    if target.exists():
        raise InputError(f"'{target}' is there already; choose another folder")
    if not folder.is_dir():
        raise InputError(f"the folder '{folder}' does not exist; make it first")
    refuse_remote(folder)
    part = folder / f".{FILE}.{secrets.token_hex(4)}.db"
    engine = make_engine(Place.of(part), write=True)
    try:
        part.touch(0o600)  # as the links beside it: it names systems, and perhaps people
        with engine.begin() as db:
            links = _fill(db, contents)
        with engine.connect() as db:
            db.rollback()
            raw = db.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA journal_mode=DELETE")
        engine.dispose()
        part.rename(target)
    except (OperationalError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else first_line(error)
        raise InputError(
            f"'{target}' cannot be written ({why}); check the folder and the disk"
        ) from None
    finally:
        engine.dispose()
        for left in folder.glob(f"{part.name}*"):
            left.unlink()
    return links


def _fill(db: Connection, contents: Contents) -> Links:
    migrate(db)
    now = Clock().now()
    _campaign(db, contents, now)
    _artifacts(db, contents)
    _items(db, contents)
    settings = contents.material.settings
    rules = Rules(
        settings.name, settings, make_protocol(settings), contents.seed, (None, None)
    )  # fmt: skip
    unit = Unit(db, now, rules)
    raters = {name: add_rater(unit, name) for name in contents.raters}
    _tasks(db, contents, raters)
    unit.note("owner", "created", settings.name, tasks=len(contents.tasks))
    if db.dialect.name == "postgresql":
        # Without it PostgreSQL sorts all tasks to find the first, until it counts them itself.
        db.execute(text(f"ANALYZE {s.task}, {s.slot}, {s.segment}, {s.output}, {s.stored_text}"))
    return Links(
        new_link(unit, "owner"), new_link(unit, "viewer"), new_link(unit, "join"),
        tuple(RaterLink(name, new_link(unit, "rater", number)) for name, number in raters.items()),
    )  # fmt: skip


def _insert(db: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    """Insert many rows, some thousands at a time."""
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            db.execute(insert(table), batch)
            batch = []
    if batch:
        db.execute(insert(table), batch)


def slug_of(name: str) -> str:
    """Turn a name into a part of an address.

    >>> slug_of("News, en-de (2026)")
    'news-en-de-2026'
    """
    words = "".join(c if c.isalnum() else " " for c in name.lower()).split()
    short = "-".join(words).encode()[:MOST_SLUG].decode(errors="ignore")
    return short.strip("-") or "campaign"


def _campaign(db: Connection, contents: Contents, now: int) -> None:
    planned = contents.material.settings
    settings = plain(planned)
    own = [text for text in (contents.instructions, contents.consent) if text is not None]
    _texts(db, own)
    source, target = _languages(contents)
    db.execute(insert(s.campaign).values(
        slug=slug_of(planned.name), name=planned.name, state="draft",
        protocol=str(planned.protocol), settings=settings,
        settings_hash=sha256(dump(settings).encode()).hexdigest(),
        instructions_hash=text_hash(contents.instructions) if contents.instructions else None,
        consent_hash=text_hash(contents.consent) if contents.consent else None,
        source_language=source, target_language=target, seed=contents.seed, version=__version__,
        created=now,
    ))  # fmt: skip


def _languages(contents: Contents) -> tuple[str | None, str | None]:
    """Return the languages of the settings, else of the language pair of the scores."""
    named = contents.material.settings.screen.languages
    if named is not None:
        return named
    pairs = set(contents.items.lp)
    if len(pairs) == 1 and (pair := pairs.pop()) and pair.count("-") == 1:
        source, target = pair.split("-")
        return source, target
    return None, None


def _artifacts(db: Connection, contents: Contents) -> None:
    """Store the inputs as they were."""
    given = contents.material
    tables = {"scores": given.test_set, "sample": given.sample, "errors": given.errors}
    bodies = {
        name: parquet_bytes(table.frame, Path(name))
        for name, table in tables.items()
        if table is not None
    }
    if given.kits is not None:
        bodies["kits"] = dump(given.kits.to_dict()).encode()
    _insert(db, s.artifact, (
        {
            "name": name, "kind": "json" if name == "kits" else "parquet",
            "sha256": sha256(body).hexdigest(), "body": body,
        }
        for name, body in bodies.items()
    ))  # fmt: skip


def _texts(db: Connection, texts: Iterable[str]) -> None:
    """Store texts that are not stored yet, once each."""
    found = {text_hash(text): text for text in texts}
    known = set(db.execute(select(s.stored_text.c.hash)).scalars())
    rows = ({"hash": key, "body": text} for key, text in found.items() if key not in known)
    _insert(db, s.stored_text, rows)


def _items(db: Connection, contents: Contents) -> None:
    items = contents.items
    _texts(db, (text for text in items.sources if text is not None))
    _texts(db, items.targets.values())
    _texts(db, (text for own in contents.spoiled for text in own.values()))
    _insert(db, s.system, ({"id": k, "name": name} for k, name in enumerate(items.systems)))
    stored = {one.hash: one for one in contents.media.values()}
    codes = {name: secrets.token_hex(12) for name in stored}
    own = {name: [codes[one.hash]] for name, one in contents.media.items()}
    _insert(db, s.media, (
        {"hash": name, "code": codes[name], "type": one.type, "body": one.body}
        for name, one in stored.items()
    ))  # fmt: skip
    _insert(db, s.segment, (
        {
            "id": k, "lp": items.lp[k], "doc": items.doc[k], "seg": items.seg[k],
            "source": None if source is None else text_hash(source),
            "media": own.get(items.media[k] or ""),
        }
        for k, source in enumerate(items.sources)
    ))  # fmt: skip
    _insert(db, s.output, (
        {"segment": segment, "system": system, "text": text_hash(text)}
        for (segment, system), text in items.targets.items()
    ))  # fmt: skip
    _insert(db, s.mark, (
        {"segment": segment, "system": system, "body": asdict(span)}
        for segment, system, span in contents.marks
    ))  # fmt: skip


def _tasks(db: Connection, contents: Contents, raters: dict[str, int]) -> None:
    context = contents.material.settings.screen.context
    rows = []
    for number, task in enumerate(contents.tasks):
        stretch = contents.items.stretch(list(task.rated), context)
        rows.append({
            "id": number + 1, "position": number, "kind": task.kind,
            "parent": None if task.parent is None else task.parent + 1, "gap": task.gap,
            "snippet": task.snippet, "first": stretch[0], "last": stretch[-1],
            "outputs": task.outputs, "probability": task.probability, "stratum": task.stratum,
            "block": task.block, "block_probability": task.block_probability,
            "wanted": task.wanted, "free": task.wanted,
            "rater": raters[task.editor] if task.editor is not None else None,
        })  # fmt: skip
    _insert(db, s.task, rows)
    _insert(db, s.task, (
        {
            "id": len(rows) + number, "position": number, "kind": lesson.kind, "snippet": 0,
            "outputs": 1, "wanted": LESSON_COPIES, "free": LESSON_COPIES, "body": asdict(lesson),
        }
        for number, lesson in enumerate(contents.lessons, start=1)
    ))  # fmt: skip
    _insert(db, s.slot, _slots(contents))


def _slots(contents: Contents) -> Iterator[dict[str, Any]]:
    for number, task in enumerate(contents.tasks):
        yield from _slots_of(number, task, contents)


def _slots_of(number: int, task: PlannedTask, contents: Contents) -> Iterator[dict[str, Any]]:
    context = contents.material.settings.screen.context
    first = contents.items.stretch(list(task.rated), context)[0]
    spoiled = contents.spoiled[number]
    for (segment, system), leader in contents.leaders[number].items():
        if task.kind == "check" and leader != system:
            continue
        text = spoiled.get((segment, system), contents.items.targets[segment, system])
        yield {
            "task": number + 1,
            "place": segment - first,
            "system": system,
            "shown_as": leader,
            "segment": segment,
            "text": text_hash(text),
            "spoiled": (segment, system) in spoiled,
        }
