"""Assignment of tasks to raters.

A task has all systems of a snippet and goes to one rater, whose severity then cancels in every
difference between systems. Each task goes to the rater with the smallest load, so that loads differ
by at most one task; ties, and the order of the systems, are random. Raters follow the order of the
sample, so that finished work is always a beginning of it; without a sample, tasks are shuffled. A
random share of the tasks goes to a second rater: only this shows how much raters differ.

Spoiled copies of outputs, which an attentive rater scores lower, have a stretch replaced by an
equally long one from another document, as in the bad references of WMT's direct assessment (Graham
et al., 2013).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from assay.collecting.results import AssignedSegment, AssignedTask, Assignment, Reason
from assay.errors import InputError, OptionError, need_count
from assay.results import Note, plural
from assay.stats.random import Rng, seeded
from assay.tables.tables import Sample, TestSet

USUAL_OVERLAP = 0.1
"""Default share of the tasks with an additional rater."""
Own = list[tuple[int, Reason]]
"""A rater's tasks by number, each with its reason."""


def assign(
    drawn: Sample | TestSet,
    raters: int | Sequence[str],
    *,
    overlap: float | None = None,
    per_output: int = 1,
    checks: float = 0.0,
    repeats: float = 0.0,
    rng: Rng = None,
) -> Assignment:
    """Assign tasks to raters, with all systems of a snippet in one task.

    ``drawn`` is a sample, or a test set to rate completely. A task is a snippet of the sample (a
    document if documents were drawn, a piece of one in rounds) or a single segment; in a test set
    it is a document, if there are any. ``raters`` is a number or names. Every task goes to
    ``per_output`` raters, and a random share ``overlap`` to one more (None: a tenth, or none if no
    rater is left). Loads, counted in outputs, differ by at most one task. A rater's tasks follow
    the order of the sample, every beginning of which is representative, so half-finished sheets are
    usable; the tasks of a test set are shuffled. Systems are shuffled for every rater and segment.

    ``repeats`` is the share of tasks that a rater gets a second time, half of the tasks later, to
    measure consistency. ``checks`` is the share of outputs that get a spoiled copy next to them, to
    check attention.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=3, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="25%", rng=7)
    >>> plan = assign(drawn, ["Ada", "Ben"], overlap=0.1, rng=7)
    >>> [(load.rater, load.tasks, load.outputs, load.shared) for load in plan.loads]
    [('Ada', ..., ..., ...), ('Ben', ..., ..., ...)]
    """
    people = _names(raters)
    if overlap is None:
        overlap = USUAL_OVERLAP if len(people) > per_output else 0.0
    _check(len(people), overlap, per_output, checks, repeats)
    generator, seed = seeded(rng)
    test_set, tasks, notes = snippet_tasks(drawn)
    turns = _turns(drawn, tasks)
    size = np.array([sum(len(segment.systems) for segment in task) for task in tasks])
    dealt, load = _deal(size, len(people), overlap, per_output, generator)
    dealt = [_in_turn(own, turns, generator) for own in dealt]
    _repeat(dealt, load, size, round(repeats * len(tasks)), generator)
    spoiled = round(checks * size.sum() * per_output / len(people))
    digits = len(str(len(tasks)))
    assigned = tuple(
        AssignedTask(rater, place, f"t{number + 1:0{digits}d}", reason, segments)
        for rater, own in zip(people, dealt, strict=True)
        for place, ((number, reason), segments) in enumerate(
            zip(own, _shown(tasks, own, spoiled, generator), strict=True), start=1
        )
    )
    notes += _unlinked(people, dealt, overlap > 0 or per_output > 1)
    return Assignment(
        assigned, people, test_set.systems, float(overlap), per_output, float(checks),
        float(repeats), seed, tuple(notes),
    )  # fmt: skip


def _names(raters: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(raters, str):
        raise OptionError("raters", raters, "is one name", "give a list of names, or a number")
    if not isinstance(raters, Sequence):
        need_count("raters", raters, "raters", most=10_000)
        return tuple(f"rater-{number:0{len(str(raters))}d}" for number in range(1, raters + 1))
    people = tuple(name.strip() for name in raters)
    for name, often in Counter(people).items():
        if not name:
            raise OptionError("raters", repr(name), "is not a name", "give each a name")
        if often > 1:
            raise OptionError("raters", name, "is named twice", "name each once")
    if not people:
        raise OptionError("raters", "", "names nobody", "give names or a number")
    return people


def _check(raters: int, overlap: float, per_output: int, checks: float, repeats: float) -> None:
    need_count("per_output", per_output, "raters", most=10_000)
    for name, value, most in (
        ("overlap", overlap, 1.0), ("checks", checks, 0.5), ("repeats", repeats, 0.5),
    ):  # fmt: skip
        if not 0 <= value <= most:
            raise OptionError(name, value, "is not a share", f"give a number from 0 to {most:g}")
    if per_output > raters:
        raise OptionError(
            "per_output", per_output, f"exceeds the {raters} raters", "name more of them"
        )
    if overlap and per_output == raters:
        raise OptionError(
            "overlap", overlap, f"needs more than {plural(raters, 'rater')}",
            "name one more, or give 0",
        )  # fmt: skip


def snippet_tasks(
    drawn: Sample | TestSet,
) -> tuple[TestSet, list[list[AssignedSegment]], list[Note]]:
    """The segments of every task with their systems in reading order, and notes."""
    test_set = drawn.checked if isinstance(drawn, Sample) else drawn
    if test_set is None:
        raise InputError(
            "the sample was read without its test set, which has the systems; read it with"
            " `test_set`"
        )
    key, notes = list(test_set.key), list[Note]()
    rows = test_set.frame.select("system", *key)
    piece = [name for name in key if name != "seg"] or key
    if isinstance(drawn, Sample):
        own = drawn.frame.select(
            name for name in ("system", *key, "snippet") if name in drawn.frame
        )
        rows = rows.join(own, on=[name for name in own.columns if name != "snippet"])
        piece = [*piece, "snippet"] if "snippet" in own.columns else key
        if not drawn.matched:
            # Snippets are numbered separately for each system.
            rows = rows.with_columns(_of="system") if "snippet" in own.columns else rows
            text = "systems have different segments: raters' severity stays in their differences"
            notes.append(Note("unmatched", text))
    piece = [name for name in ("_of", *dict.fromkeys(piece)) if name in rows.columns]
    order = test_set.segments.select(key).with_row_index("_order")
    rows = rows.join(order, on=key, nulls_equal=True).sort("_order", "system")
    names = list(dict.fromkeys([*piece, *key]))
    tasks: dict[tuple[object, ...], list[AssignedSegment]] = {}
    for row in rows.group_by(names, maintain_order=True).agg("system").iter_rows(named=True):
        segment = AssignedSegment(row.get("lp"), row.get("doc"), row["seg"], tuple(row["system"]))
        tasks.setdefault(tuple(row[name] for name in piece), []).append(segment)
    return test_set, list(tasks.values()), notes


def _turns(drawn: Sample | TestSet, tasks: Sequence[Sequence[AssignedSegment]]) -> list[int] | None:
    """The place of every task in the order of a matched sample; None without an order."""
    if not isinstance(drawn, Sample) or not drawn.matched or "order" not in drawn.frame.columns:
        return None
    names = [name for name in ("lp", "doc", "seg") if name in drawn.frame.columns]
    place = {row[:-1]: row[-1] for row in drawn.frame.select(*names, "order").iter_rows()}
    return [
        min(place[tuple(getattr(segment, name) for name in names)] for segment in task)
        for task in tasks
    ]


def _in_turn(own: Own, turns: Sequence[int] | None, rng: np.random.Generator) -> Own:
    """A rater's tasks in the order of the sample, or shuffled."""
    if turns is not None:
        return sorted(own, key=lambda item: turns[item[0]])
    return [own[k] for k in rng.permutation(len(own))]


def _deal(
    size: np.ndarray, raters: int, overlap: float, per_output: int, rng: np.random.Generator
) -> tuple[list[Own], np.ndarray]:
    """Each rater's tasks and load.

    Each task goes to the rater with the smallest load: shared tasks first, then by size, so that
    the last ones even out the loads. The second rater of a task is one not yet linked to the first
    by shared tasks, or that shares the fewest with them, while loads differ by one task at most.
    """
    count = len(size)
    twice = _shared_tasks(size, overlap, rng)
    dealt: list[Own] = [[] for _ in range(raters)]
    load, group, met = np.zeros(raters), np.arange(raters), np.zeros((raters, raters))
    drawn = rng.permutation(count)
    for number in drawn[np.lexsort((-size[drawn], ~twice[drawn]))]:
        chosen: list[int] = []
        high = load + size[number] > load.min() + size.max()
        for turn in range(per_output + int(twice[number])):
            linked = np.isin(group, group[chosen]) & ~high
            together = np.where(high, 0, met[:, chosen].sum(axis=1))
            line = np.lexsort((rng.random(raters), load, together, linked, high))
            if not chosen:
                line = np.lexsort((rng.random(raters), load))
            rater = next(int(k) for k in line if k not in chosen)
            dealt[rater].append((int(number), "overlap" if turn == per_output else "order"))
            chosen.append(rater)
        load[chosen] += size[number]
        met[np.ix_(chosen, chosen)] += 1
        group[np.isin(group, group[chosen])] = group[chosen[0]]
    return dealt, load


def _shared_tasks(size: np.ndarray, overlap: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the tasks with an additional rater: equal chances, spread evenly over task sizes.

    This keeps their share of the outputs close to ``overlap`` too.
    """
    twice = np.zeros(len(size), dtype=bool)
    if not overlap:
        return twice
    number = max(1, round(overlap * len(size)))
    order = rng.permutation(len(size))
    order = order[np.argsort(size[order], kind="stable")]
    places = (rng.random() + np.arange(number)) * len(size) / number
    twice[order[np.minimum(places.astype(int), len(size) - 1)]] = True
    return twice


def _repeat(
    dealt: list[Own], load: np.ndarray, size: np.ndarray, wanted: int, rng: np.random.Generator
) -> None:
    """Repeat tasks of the first half of a rater's order in the second half."""
    halves = [(len(own) + 1) // 2 for own in dealt]
    # With a single task the repeat would follow immediately.
    free = [
        list(rng.permutation(half)) if len(own) > 1 else []
        for own, half in zip(dealt, halves, strict=True)
    ]
    again: list[list[int]] = [[] for _ in dealt]
    for _ in range(min(wanted, sum(map(len, free)))):
        rater = next(int(k) for k in np.lexsort((rng.random(len(load)), load)) if free[k])
        place = int(free[rater].pop())
        again[rater].append(place)
        load[rater] += size[dealt[rater][place][0]]
    for own, places, half in zip(dealt, again, halves, strict=True):
        for place in sorted(places, reverse=True):
            own.insert(place + half, (own[place][0], "repeat"))


def _shown(
    tasks: Sequence[Sequence[AssignedSegment]], own: Own, spoiled: int, rng: np.random.Generator
) -> list[tuple[AssignedSegment, ...]]:
    """One rater's segments, with systems shuffled and spoiled copies added."""
    places = [
        (turn, k)
        for turn, (number, reason) in enumerate(own) if reason != "repeat"
        for k in range(len(tasks[number]))
    ]  # fmt: skip
    checked = {places[int(k)] for k in rng.permutation(len(places))[:spoiled]}
    shown = []
    for turn, (number, _) in enumerate(own):
        segments = []
        for k, segment in enumerate(tasks[number]):
            names, copy = list(segment.systems), len(segment.systems)
            if (turn, k) in checked:
                names.append(names[int(rng.integers(copy))])
            order = rng.permutation(len(names)).tolist()
            segments.append(AssignedSegment(
                segment.lp, segment.doc, segment.seg, tuple(names[place] for place in order),
                tuple(place + 1 for place, which in enumerate(order) if which == copy),
            ))  # fmt: skip
        shown.append(tuple(segments))
    return shown


def _unlinked(people: Sequence[str], dealt: Sequence[Own], planned: bool) -> list[Note]:
    """Notes on raters not linked to the others by shared tasks, and on idle ones."""
    notes = []
    idle = [name for name, own in zip(people, dealt, strict=True) if not own]
    if idle:
        notes.append(Note("idle-raters", f"there is no task for {', '.join(idle)}"))
    if not planned:
        why = "no output has two raters" if len(people) > 1 else "there is one rater"
        notes.append(Note("no-overlap", f"{why}: how much raters differ will remain unknown"))
        return notes
    groups: list[set[int]] = []
    for own in dealt:
        mine = {number for number, _ in own}
        touching = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [mine.union(*touching)]
    count = sum(1 for group in groups if group)
    if count > 1:
        notes.append(Note(
            "raters-not-linked",
            f"shared tasks link the raters in {count} groups instead of one: severity can only be"
            " compared within a group; plan more overlap",
        ))  # fmt: skip
    return notes


STRETCHES = ((5, 2), (8, 3), (15, 4), (20, 5))
"""Longest text in words, and how many words are replaced; a quarter in longer texts."""
MAX_TRIES = 200


def spoil(text: str, others: Sequence[str], rng: np.random.Generator) -> str:
    """Replace a stretch of a text by one from the others; by characters if words have no spaces.

    >>> spoil("one two three four", ["five six seven eight"], np.random.default_rng(1))
    'one six seven four'
    """
    spaced = len(text.split()) > 1
    parts = re.split(r"(\s+)", text) if spaced else list(text)
    # Keep spaces and line breaks, so that the copy looks like the output.
    places = [place for place, part in enumerate(parts) if part and not (spaced and part.isspace())]
    own = [parts[place] for place in places]
    length = min(next((k for most, k in STRETCHES if len(own) <= most), len(own) // 4), len(own))
    start = int(rng.integers(len(own) - length + 1))
    replaced = own[start : start + length]
    for _ in range(MAX_TRIES if others else 0):
        words: list[str] = []
        # No single text may be as long as the stretch, so several are joined.
        for other in rng.integers(len(others), size=length):
            words += others[other].split() if spaced else "".join(others[other].split())
            if len(words) >= length:
                break
        first = int(rng.integers(max(len(words) - length, 0) + 1))
        stretch = words[first : first + length]
        other_words = sum(new != old for new, old in zip(stretch, replaced, strict=False))
        if len(stretch) == length and 2 * other_words > length:
            for place, word in zip(places[start : start + length], stretch, strict=True):
                parts[place] = word
            return "".join(parts)
    raise InputError(
        f"no other text has {length} words to spoil '{text[:60]}' with; assign without `checks`"
    )
