"""A campaign in use: the object that pages, commands and simulated raters call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from assay.campaign.records import Collected, Event
from assay.campaign.store import answers as sending
from assay.campaign.store import browsing, looking, people, reader, tally, tasks, upkeep
from assay.campaign.store.access import Store, open_store
from assay.campaign.store.clock import Clock
from assay.campaign.store.collected import read_judged
from assay.campaign.store.unit import Link, Unit
from assay.collecting.results import CampaignStatus
from assay.errors import OptionError
from assay.project.settings import Settings, Stop

if TYPE_CHECKING:
    from assay.collecting.live import CampaignResults

Given = ParamSpec("Given")
Reply = TypeVar("Reply")


def open_campaign(
    folder_or_url: str | os.PathLike[str], *, write: bool = True, clock: Clock | None = None
) -> Campaign:
    """Open a campaign; with ``write``, a file is locked against other writers.

    Several processes may write to a PostgreSQL database at once.
    """
    return open_store(Campaign, folder_or_url, write=write, clock=clock)


def _changes(
    work: Callable[Concatenate[Unit, Given], Reply],
) -> Callable[Concatenate[Campaign, Given], Reply]:
    """A method that runs a unit of work, and returns when that is on disk."""
    takes = signature(work)

    @wraps(work)
    def method(self: Campaign, /, *args: Given.args, **options: Given.kwargs) -> Reply:
        named = takes.bind(None, *args, **options)
        named.apply_defaults()
        _, *given = named.args
        reply: Reply = self.later(work, *given).result()
        return reply

    return method


def _reads(
    read: Callable[Concatenate[Any, Given], Reply],
) -> Callable[Concatenate[Campaign, Given], Reply]:
    """A method that reads the store."""

    @wraps(read)
    def method(self: Campaign, /, *args: Given.args, **options: Given.kwargs) -> Reply:
        with self.reading() as db:
            return read(db, *args, **options)

    return method


@dataclass(eq=False)
class Campaign(Store):
    """A campaign: raters get tasks and send answers, owners watch and steer it.

    Every method that changes something is one transaction and returns when that is on disk.
    :meth:`later` returns a future instead, so that many can wait at once.
    """

    _results: tuple[int, CampaignResults] | None = field(default=None, init=False)
    """The newest result, with its number."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def link(self, token: str) -> Link | None:
        """Look up what a token gives access to, if anything."""
        with self.reading() as db:
            return reader.find_link(db, token, self.clock.now())

    # What raters do.

    join = _changes(people.join)
    next = _changes(tasks.next_task)
    draft = _changes(sending.draft)
    send = _changes(sending.send)
    beat = _changes(tasks.beat)
    decline = _changes(tasks.decline)
    problem = _changes(tasks.problem)
    language = _changes(people.set_language)
    finish = _changes(people.finish)
    consent = _reads(reader.read_consent)
    media = _reads(reader.read_media)
    mine = _reads(reader.mine)

    def mine_one(self, link: Link, lease: str) -> dict[str, Any]:
        """One of a rater's own tasks with the answers given."""
        with self.reading() as db:
            return reader.mine_one(db, self.rules, link, lease)

    def messages(self, link: Link) -> list[dict[str, Any]]:
        """What a rater was told and has not read yet."""
        with self.reading() as db:
            return people.unread(db, self.tally, link)

    # What owners do.

    add_raters = _changes(people.add_raters)
    new_link = _changes(people.renew_link)
    message = _changes(people.send_message)
    exclude = _changes(people.exclude)
    restore = _changes(people.restore)
    forget = _changes(people.forget)
    change_rule = _changes(people.change_rule)
    bring_in = _changes(sending.bring_in)
    keep_look = _changes(looking.store_look)
    keep_results = _changes(looking.store_live)
    rebuild = _changes(upkeep.rebuild)
    answers = _reads(browsing.read_answers)
    counts = _reads(reader.read_counts)
    integrity = _reads(upkeep.faults)
    judged = _reads(read_judged)
    lessons = _reads(reader.read_lessons)
    links = _reads(reader.read_links)
    names = _reads(browsing.read_names)

    def open(self, actor: str, reason: str | None = None) -> None:
        """Open the campaign: raters get tasks from now on."""
        self.later(people.set_state, "open", actor, reason).result()

    def pause(self, actor: str, reason: str | None = None) -> None:
        """Stop handing out tasks; what is sent is stored and marked late."""
        self.later(people.set_state, "paused", actor, reason).result()

    def resume(self, actor: str, reason: str | None = None) -> None:
        """Continue after a pause."""
        self.later(people.set_state, "open", actor, reason).result()

    def close(self, actor: str, reason: str | None = None) -> None:
        """Close the campaign for good: nothing more is accepted."""
        self.later(people.set_state, "closed", actor, reason).result()

    def status(self) -> CampaignStatus:
        """How the campaign stands."""
        with self.reading() as db:
            status = reader.read_status(db, self.rules, self.slug, self.tally)
        found = self.results()
        if found is None:
            return status
        from assay.collecting.live import status_of  # it knows every kind of result

        return replace(status, **status_of(found))

    def version(self) -> tuple[int, ...]:
        """Return numbers that differ after any change, a new result included."""
        with self.reading() as db:
            return *tally.seen(db), looking.read_live_number(db)

    @property
    def settings(self) -> Settings:
        """The settings that it was made with."""
        return self.rules.settings

    @property
    def folder(self) -> Path | None:
        """The folder of its file; None where it is in a database."""
        file = self.place.file
        return None if file is None else file.parent

    def pace(self) -> tuple[tuple[int, int], ...]:
        """Hours since 1970, and the answers that were first sent in them."""
        with self.reading() as db, self.tally.now(db) as counts:
            return tuple(sorted(counts.by_hour.items()))

    def events(self, before: int | None = None) -> list[Event]:
        """What was done, newest first, before a number."""
        with self.reading() as db:
            return browsing.read_events(db, self.tally, before)

    def collected(self, look: int | None = None) -> Collected:
        """Everything that was gathered, for export; or what a look saw of it."""
        with self.reading() as db:
            seen = None if look is None else looking.read_look_seen(db, look)
            if look is not None and seen is None:
                taken = [str(row.number) for row in looking.read_looks(db)]
                remedy = f"choose from {', '.join(taken)}" if taken else "wait for the first"
                raise OptionError("look", look, "has not taken place", remedy)
            return reader.read_collected(db, self.rules, self.tally, seen)

    def results(self) -> CampaignResults | None:
        """The newest result that was computed; None before the first.

        It is stored by whoever looks after results, which see :mod:`assay.campaign.live`.
        """
        with self.reading() as db:
            number = looking.read_live_number(db)
            if self._results is not None and self._results[0] == number:
                return self._results[1]
            row = looking.read_live(db)
        if row is None:
            return None
        from assay.collecting.live import CampaignResults  # it knows every kind of result

        found = CampaignResults.from_dict(json.loads(row.result))
        self._results = row.number, found
        return found

    def ready(self) -> bool:
        """Whether the store answers."""
        with self.reading() as db:
            return reader.find_link(db, "", 0) is None

    def rule(self) -> Stop:
        """The rule that ends the collecting, as it is now."""
        with self.reading() as db:
            return looking.read_rule(db, self.settings.stop)

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """Copy the whole file while raters work."""
        return upkeep.backup(self.place, Path(path))
