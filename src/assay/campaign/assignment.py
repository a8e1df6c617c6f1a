"""Which tasks there are, in which order, what each shows, and for how long it may be held.

The order is fixed before a campaign begins; there is no SQL here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.collecting.assign import USUAL_OVERLAP, snippet_tasks
from assay.errors import OptionError
from assay.kits.results import KitDesign
from assay.project.settings import Settings
from assay.tables.tables import Sample, TestSet

TIMES_MEDIAN, LEAST_MINUTES, MOST_MINUTES = 4, 20.0, 120.0
SECONDS_PER_OUTPUT = 30.0
"""Assumed until the first tasks are done."""
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lease_minutes(lease: str, outputs: int, seconds: float) -> float:
    """Minutes for a task: as the settings say, or four times the usual duration, 20 to 120.

    >>> lease_minutes("auto", 20, 30.0), lease_minutes("45", 20, 30.0)
    (40.0, 45.0)
    """
    if lease != "auto":
        return fixed_minutes(lease)
    expected = TIMES_MEDIAN * outputs * seconds / 60
    return min(max(expected, LEAST_MINUTES), MOST_MINUTES)


def fixed_minutes(lease: str) -> float:
    """Return the minutes that the settings name."""
    text = lease.strip().removesuffix("min").strip()
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 7 * 24 * 60:
        raise OptionError(
            "raters.lease", lease, "is not a time", "give minutes such as 45, or auto"
        )
    return minutes


def screens(
    systems: Sequence[int], side_by_side: int, rng: np.random.Generator, *, together: bool
) -> list[list[int]]:
    """Spread the systems of a task over screens in random order.

    Screens differ by at most one output.
    """
    order = rng.permutation(np.asarray(systems))
    count = 1 if together else -(-len(order) // side_by_side)
    return [part.tolist() for part in np.array_split(order, count)]


def label(place: int) -> str:
    """The label of a place: A, B, ... Z, A2, B2, ...

    >>> label(0), label(27)
    ('A', 'B2')
    """
    turn, letter = divmod(place, len(LABELS))
    return LABELS[letter] + (str(turn + 1) if turn else "")


class Dealer:
    """Deal systems into sets, so that every two of them meet equally often."""

    def __init__(self, systems: int, rng: np.random.Generator) -> None:
        self.met = np.zeros((systems, systems))
        self._rng = rng

    def deal(self, systems: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Return disjoint sets of these sizes, from the draw that evens out meetings most.

        >>> dealer = Dealer(4, np.random.default_rng(1))
        >>> sorted(sorted(one) for one in dealer.deal(range(4), [2, 2]))
        [[0, 1], [2, 3]]
        """
        own, edges = np.asarray(systems), np.cumsum(sizes)[:-1]
        best, least = None, np.inf
        for _ in range(DEALS_TRIED):
            sets = np.split(self._rng.permutation(own)[: sum(sizes)], edges)
            cost = sum(((self.met[np.ix_(one, one)] + 1) ** 2).sum() for one in sets)
            if cost < least:
                best, least = sets, cost
        assert best is not None
        for one in best:
            self.met[np.ix_(one, one)] += 1
        return [tuple(one.tolist()) for one in best]


def block_sizes(systems: int, segments: int, most: int) -> list[int]:
    """Return the block sizes of a task, which may show at most so many outputs at once.

    >>> block_sizes(6, 20, 60), block_sizes(6, 10, 60), block_sizes(7, 20, 60)
    ([3, 3], [6], [3, 2, 2])
    """
    size = min(systems, max(2, most // segments))
    count = -(-systems // size)
    while count > 1 and systems // count < 2:
        count -= 1
    return [systems // count + (k < systems % count) for k in range(count)]


Kind = Literal["rate", "check", "repeat", "tutorial", "qualify"]
LEAST_GAP, MOST_GAP = 3, 8
"""Tasks of a rater between one and its second showing, drawn between these."""
SPARE_CHECKS = 6
"""Checks are made for so many times as many tasks as are needed: whoever does which tasks, every
rater has some of them behind them when a check is due."""
RANKED = 5
"""Outputs side by side in a ranking, unless said otherwise."""
DEALS_TRIED = 60
"""Sets of systems are the best of so many random ones."""


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One task: what is shown, how likely it was drawn, and how many raters it wants."""

    kind: Kind
    snippet: int
    rated: Mapping[int, tuple[int, ...]]
    """Segment to systems."""
    probability: float | None = None
    stratum: str | None = None
    block: int | None = None
    block_probability: float = 1.0
    wanted: int = 1
    parent: int | None = None
    """Of a second showing: which task it shows again, by its place in the order."""
    gap: int | None = None
    """How many other tasks lie between the two."""
    editor: str | None = None
    shown: int | None = None
    """How many systems are shown, where these are chosen when the task is given out."""

    @property
    def outputs(self) -> int:
        """How many outputs are to be judged."""
        return self.shown or sum(map(len, self.rated.values()))


def plan_tasks(
    sample: Sample, settings: Settings, kind: str, rng: np.random.Generator
) -> list[PlannedTask]:
    """The tasks in their order: first the genuine ones, then second showings with their parents.

    Which tasks want one rater more and which are shown to a rater again, spoiled or not, is drawn
    here, as are blocks of systems where a task would be too long.
    """
    test_set, snippets = _snippets(sample, rng)
    dealer = Dealer(len(test_set.systems), rng)
    tasks = []
    for number, snippet in enumerate(snippets):
        for block, (systems, share) in enumerate(_sets(snippet, settings, kind, dealer)):
            rated = {
                segment: tuple(name for name in own if name in systems)
                for segment, own in snippet.rated.items()
            }
            rated = {segment: own for segment, own in rated.items() if own}
            shown = None
            if _chooses(settings, kind):
                shown = max(2, round(share * max(map(len, rated.values()), default=2)))
            tasks.append(replace(
                snippet, snippet=number, rated=rated, block=block if share < 1 else None,
                block_probability=share, shown=shown,
            ))  # fmt: skip
    tasks = _overlapping(tasks, settings, rng)
    if kind != "ratings":
        return tasks
    checks = share_of("checks.share", settings.checks.share, 0.0)
    repeats = share_of("checks.repeats", settings.checks.repeats, 0.0)
    tasks += _again(tasks, "repeat", repeats, rng)
    tasks += _again(tasks, "check", min(SPARE_CHECKS * checks, 1 - repeats), rng)
    return tasks


def plan_kits(test_set: TestSet, kits: KitDesign) -> list[PlannedTask]:
    """One task per editor and document, in the order of every editor's kit."""
    system = {name: number for number, name in enumerate(test_set.systems)}
    documents: dict[str | None, list[int]] = {}
    names = test_set.segments["doc"].to_list() if test_set.has_documents else []
    for place, name in enumerate(names):
        documents.setdefault(name, []).append(place)
    tasks = []
    numbers = {name: number for number, name in enumerate(kits.documents)}
    for item in sorted(kits.kits, key=lambda item: item.position):
        if item.document not in documents or item.system not in system:
            what = "document" if item.document not in documents else "system"
            value = item.document if what == "document" else item.system
            raise OptionError(
                "kits", value, f"is a {what} that the scores do not have",
                f"name the {what}s of the kits as in the scores",
            )  # fmt: skip
        rated = dict.fromkeys(documents[item.document], (system[item.system],))
        tasks.append(PlannedTask(
            "rate", numbers[item.document], rated, editor=item.editor,
        ))  # fmt: skip
    return tasks


def _snippets(sample: Sample, rng: np.random.Generator) -> tuple[TestSet, list[PlannedTask]]:
    """The snippets of a sample as tasks, in its order; in a random one where it has none."""
    test_set, drawn, _ = snippet_tasks(sample)
    key = list(test_set.key)
    place = {row: k for k, row in enumerate(test_set.segments.select(key).iter_rows())}
    system = {name: k for k, name in enumerate(test_set.systems)}
    owner = [] if sample.matched else ["system"]
    extra = [name for name in ("order", "probability", "stratum") if name in sample.frame]
    known = {
        row[: len(key) + len(owner)]: dict(zip(extra, row[len(key) + len(owner) :], strict=True))
        for row in sample.frame.select(*owner, *key, *extra).iter_rows()
    }
    shuffled = rng.permutation(len(drawn)).tolist()
    found = []
    for turn, task in zip(shuffled, drawn, strict=True):
        names = [tuple(getattr(one, part) for part in key) for one in task]
        rows = [known[(*((task[0].systems[0],) if owner else ()), *name)] for name in names]
        order = min((row["order"] for row in rows if row.get("order") is not None), default=turn)
        rated = {
            place[name]: tuple(system[one] for one in segment.systems)
            for name, segment in zip(names, task, strict=True)
        }
        first = rows[0]
        whole = PlannedTask("rate", 0, rated, first.get("probability"), first.get("stratum"))
        found.append((order, whole))
    return test_set, [whole for _, whole in sorted(found, key=lambda pair: pair[0])]


def _sets(
    snippet: PlannedTask, settings: Settings, kind: str, dealer: Dealer
) -> list[tuple[tuple[int, ...], float]]:
    """The sets of systems of a snippet's tasks, and the chance of a system to be in one."""
    systems = sorted({name for own in snippet.rated.values() for name in own})
    if kind == "edits":
        return [((name,), 1.0) for name in systems]
    if kind == "judgments":
        wanted = 2 if settings.protocol == "pairwise" else max(settings.screen.outputs, 2)
        if settings.protocol == "ranking" and settings.screen.outputs == 1:
            wanted = RANKED
        size = min(wanted, len(systems))
        sizes = [size] * (len(systems) // size)
        if _chooses(settings, kind) and size < len(systems):
            return [(tuple(systems), size / len(systems))] * len(sizes)
    else:
        sizes = block_sizes(len(systems), len(snippet.rated), settings.screen.most_outputs)
    if sizes == [len(systems)]:
        return [(tuple(systems), 1.0)]
    sets = dealer.deal(systems, sizes)
    return [(one, len(one) / len(systems)) for one in sets]


def _chooses(settings: Settings, kind: str) -> bool:
    """Whether the systems of a screen are chosen when it is given out."""
    return kind == "judgments" and settings.screen.sets != "planned"


def _overlapping(
    tasks: list[PlannedTask], settings: Settings, rng: np.random.Generator
) -> list[PlannedTask]:
    """How many raters every task wants: a random share of the tasks one more than the others."""
    raters = settings.raters
    pool = len(raters.names) or raters.number
    share = share_of("raters.overlap", raters.overlap, USUAL_OVERLAP)
    if raters.overlap is None and pool <= raters.per_task:
        share = 0.0
    count = max(1, round(share * len(tasks))) if share else 0
    more = set(rng.permutation(len(tasks))[:count].tolist())
    return [
        replace(task, wanted=raters.per_task + (number in more))
        for number, task in enumerate(tasks)
    ]


def _again(
    tasks: Sequence[PlannedTask], kind: Kind, share: float, rng: np.random.Generator
) -> list[PlannedTask]:
    """Second showings, spread evenly over the order: one in every 1/share tasks, at random."""
    genuine = [number for number, task in enumerate(tasks) if task.kind == "rate"]
    taken = {task.parent for task in tasks}
    count = round(share * len(genuine))
    found = []
    for part in np.array_split(np.array(genuine), count) if count else ():
        free = [int(number) for number in part if number not in taken]
        if not free:
            continue
        parent = free[int(rng.integers(len(free)))]
        found.append(replace(
            tasks[parent], kind=kind, parent=parent, wanted=1,
            gap=int(rng.integers(LEAST_GAP, MOST_GAP + 1)),
        ))  # fmt: skip
    return found


def share_of(argument: str, value: str | None, default: float) -> float:
    """A share such as ``10%`` or ``0.1``."""
    if value is None:
        return default
    text = value.strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise OptionError(argument, value, "is not a share", "give one from 0% to 100%")
    return share
