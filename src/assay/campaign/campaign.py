"""A campaign in use: the object that pages, commands and simulated raters call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay.campaign.records import (
    Collected,
    Event,
    Given,
    ImportedTask,
    Judged,
    NotNowError,
)  # fmt: skip
from assay.campaign.store import browsing, looking, reader, tally, upkeep
from assay.campaign.store.access import Store, open_store
from assay.campaign.store.clock import Clock
from assay.campaign.store.collected import read_collected, read_judged
from assay.campaign.store.units import answers, importing, looks, messages, people, tasks
from assay.campaign.store.units.base import Link
from assay.collecting.campaigns import CampaignStatus
from assay.errors import OptionError
from assay.project.settings import Settings, Stop

if TYPE_CHECKING:
    from assay.collecting.live import CampaignResults


def open_campaign(
    folder_or_url: str | os.PathLike[str], *, write: bool = True, clock: Clock | None = None
) -> Campaign:
    """Open a campaign; with ``write``, a file is locked against other writers.

    Several processes may write to a PostgreSQL database at once.
    """
    return Campaign(open_store(folder_or_url, write=write, clock=clock))


class Campaign:
    """A campaign: raters get tasks and send answers, owners watch and steer it.

    Every method that changes something is one transaction and returns when that is on disk.
    :meth:`later` returns a future instead, so that many can wait at once.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.slug = store.slug
        self.settings: Settings = store.rules.settings
        self.seed = store.rules.seed
        self.place = store.place.address
        self._results: tuple[int, CampaignResults] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Finish what was submitted, then close the store."""
        self._store.close()

    def later(self, method: str, *arguments: Any) -> Future[Any]:
        """Start a method that changes something; the future is resolved when it is on disk."""
        work, own = WRITING[method](*arguments)
        return self._store.submit(work, *own)

    def _now(self, method: str, *arguments: Any) -> Any:
        return self.later(method, *arguments).result()

    # What raters do.

    def link(self, token: str) -> Link | None:
        """Look up what a token gives access to, if anything."""
        with self._store.reading() as db:
            return reader.find_link(db, token, self._store.clock.now())

    def next(self, link: Link) -> dict[str, Any]:
        """Return the rater's open task, else the next of the order."""
        found: dict[str, Any] = self._now("next", link)
        return found

    def draft(self, link: Link, lease: str, screen: int, body: Mapping[str, Any]) -> None:
        """Keep the draft of a screen."""
        self._now("draft", link, lease, screen, body)

    def send(self, link: Link, lease: str, screen: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Store the answers to a screen; with the same key again the reply is the same."""
        found: dict[str, Any] = self._now("send", link, lease, screen, body)
        return found

    def beat(self, link: Link, lease: str) -> dict[str, Any]:
        """Hold a task for longer."""
        found: dict[str, Any] = self._now("beat", link, lease)
        return found

    def decline(self, link: Link, lease: str, reason: str) -> None:
        """Give a task back."""
        self._now("decline", link, lease, reason)

    def problem(self, link: Link, lease: str, text: str) -> None:
        """Report that something is wrong with what is shown."""
        self._now("problem", link, lease, text)

    def mine(self, link: Link) -> list[dict[str, Any]]:
        """A rater's own tasks, newest first."""
        with self._store.reading() as db:
            return reader.mine(db, _rater(link))

    def mine_one(self, link: Link, lease: str) -> dict[str, Any]:
        """One of a rater's own tasks with the answers given."""
        with self._store.reading() as db:
            return reader.mine_one(db, self._store.rules, _rater(link), lease)

    def media(self, link: Link, code: str) -> tuple[bytes, str]:
        """A file shown with a source, and its type."""
        with self._store.reading() as db:
            return reader.read_media(db, code)

    def language(self, link: Link, tag: str) -> None:
        """The language of a rater's page."""
        self._now("language", link, tag)

    def consent(self) -> str | None:
        """What raters agree to before they begin, if anything."""
        with self._store.reading() as db:
            return reader.read_consent(db)

    def join(self, parameters: Mapping[str, str], consent: bool) -> str:
        """Become a rater; the token of their link."""
        return str(self._now("join", parameters, consent))

    def finish(self, link: Link) -> dict[str, str]:
        """The completion code, or the address to go back to."""
        found: dict[str, str] = self._now("finish", link)
        return found

    # What owners do.

    def status(self) -> CampaignStatus:
        """How the campaign stands."""
        with self._store.reading() as db:
            status = reader.read_status(db, self._store.rules, self.slug, self._store.tally)
        found = self.results()
        if found is None:
            return status
        from assay.collecting.live import status_of  # it knows every kind of result

        return replace(status, **status_of(found))

    def version(self) -> tuple[int, ...]:
        """Return numbers that differ after any change, a new result included."""
        with self._store.reading() as db:
            return *tally.seen(db), looking.read_live_number(db)

    @property
    def folder(self) -> Path | None:
        """The folder of its file; None where it is in a database."""
        file = self._store.place.file
        return None if file is None else file.parent

    def failing(self) -> bool:
        """Whether the last write failed, for example on a full disk."""
        return self._store.writer is not None and self._store.writer.failing

    def pace(self) -> tuple[tuple[int, int], ...]:
        """Hours since 1970, and the answers that were first sent in them."""
        with self._store.reading() as db, self._store.tally.now(db) as counts:
            return tuple(sorted(counts.by_hour.items()))

    def answers(self, wanted: browsing.Wanted, before: int | None = None) -> list[Given]:
        """The newest answers that are wanted, before a number, to be read by the owner."""
        with self._store.reading() as db:
            return browsing.read_answers(db, wanted, before)

    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Raters, systems and documents."""
        with self._store.reading() as db:
            return browsing.read_names(db)

    def events(self, before: int | None = None) -> list[Event]:
        """What was done, newest first, before a number."""
        with self._store.reading() as db:
            return browsing.read_events(db, self._store.tally, before)

    def messages(self, link: Link) -> list[dict[str, Any]]:
        """What a rater was told and has not read yet."""
        with self._store.reading() as db:
            return messages.unread(db, self._store.tally, _rater(link))

    def counts(self) -> dict[str, dict[str, int]]:
        """How many campaigns, raters, leases and screens sent there are, by their state."""
        with self._store.reading() as db:
            return reader.read_counts(db)

    def collected(self, look: int | None = None) -> Collected:
        """Everything that was gathered, for export; or what a look saw of it."""
        with self._store.reading() as db:
            seen = None if look is None else looking.read_look_seen(db, look)
            if look is not None and seen is None:
                taken = [str(row.number) for row in looking.read_looks(db)]
                remedy = f"choose from {', '.join(taken)}" if taken else "wait for the first"
                raise OptionError("look", look, "has not taken place", remedy)
            return read_collected(db, self._store.rules, self._store.tally, seen)

    def results(self) -> CampaignResults | None:
        """The newest result that was computed; None before the first.

        It is stored by whoever looks after results, which see :mod:`assay.campaign.live`.
        """
        with self._store.reading() as db:
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

    def lessons(self) -> list[dict[str, Any]]:
        """The examples of the tutorial and of the test, with where a good score lies."""
        with self._store.reading() as db:
            return reader.read_lessons(db)

    def judged(self) -> tuple[Judged, ...]:
        """Every output that the campaign asks about."""
        with self._store.reading() as db:
            return read_judged(db)

    def bring_in(
        self, parts: Sequence[ImportedTask], tool: str, source: str, actor: str
    ) -> dict[str, Any]:  # fmt: skip
        """Store answers that were given in another tool."""
        found: dict[str, Any] = self._now("bring_in", parts, tool, source, actor)
        return found

    def now(self) -> int:
        """The time by the campaign's clock."""
        return self._store.clock.now()

    @contextmanager
    def moment(self) -> Iterator[Any]:
        """What the store holds at one moment, for everything that is read inside."""
        with self._store.moment() as db:
            yield db

    @contextmanager
    def alone_with_results(self) -> Iterator[Callable[[], bool]]:
        """Asks whether nobody else computes results of this campaign, which one process does."""
        with self._store.alone() as alone:
            yield alone

    def keep_look(self, look: Mapping[str, Any]) -> bool:
        """Store a look that took place; False where it is there already."""
        return bool(self._now("keep_look", look))

    def keep_results(
        self, basis: str, result: str, sets: Sequence[Sequence[str]] | None = None
    ) -> int:
        """Store the newest result."""
        return int(self._now("keep_results", basis, result, sets))

    def links(self) -> list[dict[str, Any]]:
        """All links, without their tokens."""
        with self._store.reading() as db:
            return reader.read_links(db)

    def ready(self) -> bool:
        """Whether the store answers."""
        with self._store.reading() as db:
            return reader.find_link(db, "", 0) is None

    def open(self, actor: str, reason: str | None = None) -> None:
        """Open the campaign: raters get tasks from now on."""
        self._now("open", actor, reason)

    def pause(self, actor: str, reason: str | None = None) -> None:
        """Stop handing out tasks; what is sent is stored and marked late."""
        self._now("pause", actor, reason)

    def resume(self, actor: str, reason: str | None = None) -> None:
        """Continue after a pause."""
        self._now("resume", actor, reason)

    def close(self, actor: str, reason: str | None = None) -> None:
        """Close the campaign for good: nothing more is accepted."""
        self._now("close", actor, reason)

    def rule(self) -> Stop:
        """The rule that ends the collecting, as it is now."""
        with self._store.reading() as db:
            return looking.read_rule(db, self.settings.stop)

    def change_rule(
        self, goal: str, target: float | None, reason: str, actor: str = "owner"
    ) -> None:
        """Continue to the last task, return from that, or change the target for scores."""
        self._now("change_rule", goal, target, reason, actor)

    def message(self, rater: str, text: str, actor: str = "owner") -> None:
        """Send a rater a message, which their page shows until they have read it."""
        self._now("message", rater, text, actor)

    def exclude(self, rater: str, reason: str, actor: str) -> None:
        """Exclude a rater: their tasks go out again, and nothing is deleted."""
        self._now("exclude", rater, reason, actor)

    def restore(self, rater: str, actor: str) -> None:
        """Restore a rater who was excluded."""
        self._now("restore", rater, actor)

    def add_raters(self, raters: int | Sequence[str], actor: str = "owner") -> list[dict[str, str]]:
        """Add raters; each with the token of a link."""
        found: list[dict[str, str]] = self._now("add_raters", raters, actor)
        return found

    def new_link(self, rater: str, actor: str = "owner") -> str:
        """Make a new link for a rater and revoke the earlier ones."""
        return str(self._now("new_link", rater, actor))

    def forget(self, rater: str, actor: str = "owner") -> str:
        """Remove what names a person, keep the answers, and return the new code name."""
        return str(self._now("forget", rater, actor))

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """Copy the whole file while raters work."""
        return upkeep.backup(self._store.place, Path(path))

    def rebuild(self) -> dict[str, int]:
        """Rebuild the state tables from answers and events."""
        found: dict[str, int] = self._now("rebuild")
        return found

    def integrity(self) -> tuple[str, ...]:
        """List faults of the store."""
        with self._store.reading() as db:
            return upkeep.faults(db)


def _rater(link: Link) -> int:
    """Return the rater of a link; refuse every other link."""
    if link.role != "rater" or link.rater_id is None:
        raise NotNowError("this link is not a rater's; open your own")
    return link.rater_id


Work = tuple[Callable[..., Any], tuple[Any, ...]]


def _of_rater(work: Callable[..., Any]) -> Callable[..., Work]:
    def made(link: Link, *arguments: Any) -> Work:
        _rater(link)
        return work, (link, *arguments)

    return made


def _state(state: str) -> Callable[..., Work]:
    return lambda actor, reason=None: (people.set_state, (state, str(actor), reason))


def _plain(work: Callable[..., Any]) -> Callable[..., Work]:
    return lambda *arguments: (work, arguments)


WRITING: Mapping[str, Callable[..., Work]] = {
    "next": _of_rater(tasks.next_task),
    "draft": _of_rater(answers.draft),
    "send": _of_rater(answers.send),
    "beat": _of_rater(tasks.beat),
    "decline": _of_rater(tasks.decline),
    "problem": _of_rater(tasks.problem),
    "language": _of_rater(people.set_language),
    "open": _state("open"),
    "pause": _state("paused"),
    "resume": _state("open"),
    "close": _state("closed"),
    "change_rule": _plain(people.change_rule),
    "message": _plain(messages.send_message),
    "message_read": _of_rater(messages.read_message),
    "exclude": _plain(people.exclude),
    "restore": _plain(people.restore),
    "add_raters": _plain(people.add_raters),
    "new_link": _plain(people.renew_link),
    "forget": _plain(people.forget),
    "rebuild": _plain(upkeep.rebuild),
    "bring_in": _plain(importing.bring_in),
    "keep_look": _plain(looks.store_look),
    "keep_results": _plain(looks.store_live),
    "join": _plain(people.join),
    "finish": _of_rater(people.finish),
}
"""Everything that changes a campaign, by name: the unit of work and its arguments."""
