"""One transaction: what it has at hand, and the changes that several of them make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import BindParameter, Connection, Row, bindparam, insert, select, true, update

from assay.campaign.protocols.base import Protocol
from assay.campaign.records import EndedLinkError, NotNowError, NotYoursError, Shown
from assay.campaign.store import schema as s
from assay.project.settings import Settings

Record = Row[Any]
Role = Literal["owner", "viewer", "rater", "join"]
SERVER = "server"
HELD = ("open", "done")
"""States in which a lease keeps a copy of its task from others."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a token gives access to."""

    id: int
    role: Role
    rater: str | None = None
    language: str | None = None
    rater_id: int | None = None

    @property
    def actor(self) -> str:
        """Who acts by it, as events name them; the link of a whole server is in no store."""
        return str(self.id) if self.id else "owner"

    def need_rater(self) -> int:
        """The number of its rater; every other link is refused."""
        if self.role != "rater" or self.rater_id is None:
            raise NotNowError("this link is not a rater's; open your own")
        return self.rater_id


class Rater(NamedTuple):
    """The rater behind a link, and the state of the campaign."""

    id: int
    state: str
    quota: int | None
    completion: str
    done: int
    active_ms: int
    campaign: str


class Lease(NamedTuple):
    """A row of the table of leases."""

    id: str
    task: int
    rater: int
    copy: int
    state: str
    opened: int
    until: int
    closed: int | None
    number: int | None
    screens: int
    reason: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class View:
    """What a lease shows, and under which hash every output that is judged is stored."""

    shown: Shown
    hashes: dict[tuple[str, int], str]


@dataclass
class Rules:
    """What does not change while a campaign runs; what was shown is remembered here."""

    name: str
    settings: Settings
    protocol: Protocol
    seed: int
    languages: tuple[str | None, str | None]
    instructions: str | None = None
    instructions_hash: str | None = None
    has_marks: bool = False
    kinds: frozenset[str] = frozenset()
    """The kinds of tasks that there are."""
    views: dict[str, View] = field(default_factory=dict)
    minutes: tuple[int, float] = (0, 0.0)
    """When the time of a lease was last computed, and the minutes per output."""
    refused: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of every sender: the minute since 1970 of their last refusal, and the refusals in it."""


WHICH: BindParameter[Any] = bindparam("which")
CAMPAIGN_STATE = select(s.campaign.c.state)
RATER = (
    select(
        s.rater.c.id, s.rater.c.state, s.rater.c.quota, s.rater.c.completion, s.rater.c.done,
        s.rater.c.active_ms, s.campaign.c.state.label("campaign"), s.link.c.revoked,
        s.link.c.expires,
    )
    .select_from(s.link)
    .join(s.rater, s.rater.c.id == s.link.c.rater)
    .join(s.campaign, true())
    .where(s.link.c.id == WHICH)
    .with_for_update(of=s.rater)
)  # fmt: skip
LEASE = select(s.lease).where(s.lease.c.id == WHICH).with_for_update()
CHANGE_LEASE = update(s.lease).where(s.lease.c.id == WHICH)
WANTED = select(s.task.c.wanted).where(s.task.c.id == WHICH)
HELD_COPIES = select(s.lease.c.copy).where(s.lease.c.task == WHICH, s.HELD)
CHANGE_FREE = (
    update(s.task).where(s.task.c.id == WHICH).values(free=s.task.c.free + bindparam("more"))
)
ADD_EVENT = insert(s.event)


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction."""

    db: Connection
    now: int
    rules: Rules

    def one(self, statement: Any, **values: object) -> Record | None:
        """The first row, if there is one."""
        return self.db.execute(statement, values).first()

    def all(self, statement: Any, **values: object) -> list[Record]:
        """All rows."""
        return list(self.db.execute(statement, values).all())

    def count(self, statement: Any, **values: object) -> int:
        """A single number."""
        return int(self.db.execute(statement, values).scalar_one() or 0)

    def note(self, actor: str, kind: str, subject: object, **body: object) -> None:
        """Append to the events: who did what to whom."""
        self.db.execute(ADD_EVENT, {
            "at": self.now, "actor": actor, "kind": kind, "subject": str(subject), "body": body,
        })  # fmt: skip

    @property
    def state(self) -> str:
        """The state of the campaign."""
        return str(self.db.execute(CAMPAIGN_STATE).scalar_one())

    def rater(self, link: Link) -> Rater:
        """Lock the rater of a link until the transaction ends.

        Whether the link still holds is asked here, so that a server may remember its token.
        """
        link.need_rater()
        row = self.one(RATER, which=link.id)
        if row is None:
            raise NotYoursError("this link has no rater; ask the organisers for another")
        if row.revoked is not None or (row.expires is not None and row.expires <= self.now):
            raise EndedLinkError("this link has ended; ask the organisers for another")
        self.need_active(row.state)
        return Rater(*row[: len(Rater._fields)])

    def need_active(self, state: str) -> None:
        """Refuse a rater who was left out."""
        if state != "active":
            raise NotNowError(
                "your work in this campaign has ended; what you sent is kept. Write to the"
                " organisers if this comes as a surprise",
                self.rules.settings.crowd.screened_out,
            )

    def lease(self, rater: Rater, lease: str) -> Lease:
        """Lock a lease of this rater."""
        row = self.one(LEASE, which=lease)
        if row is None or row.rater != rater.id:
            raise NotYoursError("you have no such task; reload the page")
        return Lease._make(row)

    def set_lease(self, lease: Lease, actor: str, **changes: Any) -> Lease:
        """Change a locked lease, log it, and count the free copies of its task."""
        self.db.execute(CHANGE_LEASE, {"which": lease.id, **changes})
        changed = lease._replace(**changes)
        self.log_lease(changed, actor)
        more = (lease.state in HELD) - (changed.state in HELD)
        if more:
            self.db.execute(CHANGE_FREE, {"which": lease.task, "more": more})
        return changed

    def count_lease(self, lease: Lease, actor: str, **changes: Any) -> Lease:
        """Count a lease whose task is answered: as done, or as overlap if no copy is free."""
        copy = lease.copy if lease.state == "open" else self.free_copy(lease.task)
        state, copy = ("extra", lease.copy) if copy is None else ("done", copy)
        return self.set_lease(lease, actor, state=state, copy=copy, **changes)

    def log_lease(self, lease: Lease, actor: str, **more: object) -> None:
        """Append the whole lease to the events, from which it can be made again."""
        self.note(actor, "lease", lease.id, **lease._asdict(), **more)

    def free_copy(self, task: int) -> int | None:
        """The first copy of a task that no lease holds."""
        held = {row.copy for row in self.all(HELD_COPIES, which=task)}
        copies = range(self.count(WANTED, which=task))
        return next((copy for copy in copies if copy not in held), None)


def need_running(state: str) -> None:
    """Refuse what is sent before a campaign is opened or after it is closed."""
    if state == "closed":
        raise NotNowError("the campaign is closed and takes no more answers; keep your text")
    if state == "draft":
        raise NotNowError("the campaign has not begun yet; try again later")
