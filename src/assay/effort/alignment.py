"""Two versions of a file, segment by segment, where tools have split, merged or renumbered them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from assay.formats.bilingual import VersionSegment

Group: TypeAlias = tuple[list[VersionSegment], list[VersionSegment]]
"""The segments of one stretch of text, before and after; usually one each."""


def align(
    before: Sequence[VersionSegment], after: Sequence[VersionSegment]
) -> tuple[list[Group], list[VersionSegment], list[VersionSegment]]:
    """What belongs together, and what is left over of either version.

    Segments with the same number and source belong together; of the rest those that cover the same
    stretch of text, which an editor may have split or merged; then those with the same source,
    wherever they stand. Without sources, numbers alone decide.

    >>> def segments(**texts):
    ...     return [VersionSegment(k, source, "", 1) for k, source in texts.items()]
    >>> old = segments(a="One. Two.", b="Three.")
    >>> groups, *_ = align(old, segments(a="One.", c="Two.", b="Three."))
    >>> [[len(side) for side in group] for group in groups]
    [[1, 2], [1, 1]]
    """
    if not (_have_sources(before) and _have_sources(after)):
        return _by_key(before, after, [s.seg for s in before], [s.seg for s in after])
    keys = [[(s.seg, _squeezed(s)) for s in side] for side in (before, after)]
    groups, left, right = _by_key(before, after, *keys)
    if left and right:
        more, left, right = _by_stretch(before, after, groups)
        groups += more
    if left and right:
        more, left, right = _by_key(
            left, right, *([_squeezed(s) for s in x] for x in (left, right))
        )
        groups += more
    place = {id(segment): k for k, segment in enumerate(after)}
    return sorted(groups, key=lambda group: place[id(group[1][0])]), left, right


def _have_sources(segments: Sequence[VersionSegment]) -> bool:
    return any(segment.source for segment in segments)


def _squeezed(segment: VersionSegment) -> str:
    """The source without white space, which tools move about at the ends of segments."""
    return "".join((segment.source or "").split())


def _by_key(
    before: Sequence[VersionSegment], after: Sequence[VersionSegment], keys: Sequence[object],
    others: Sequence[object],
) -> tuple[list[Group], list[VersionSegment], list[VersionSegment]]:  # fmt: skip
    """One to one by a key; of several with the same key the first with the first."""
    waiting: defaultdict[object, list[VersionSegment]] = defaultdict(list)
    for segment, key in zip(reversed(before), reversed(keys), strict=True):
        waiting[key].append(segment)
    groups: list[Group] = []
    right = []
    for segment, key in zip(after, others, strict=True):
        if waiting[key]:
            groups.append(([waiting[key].pop()], [segment]))
        else:
            right.append(segment)
    taken = {id(one) for group in groups for one in group[0]}
    return groups, [segment for segment in before if id(segment) not in taken], right


def _by_stretch(
    before: Sequence[VersionSegment], after: Sequence[VersionSegment], groups: Sequence[Group]
) -> tuple[list[Group], list[VersionSegment], list[VersionSegment]]:
    """Between segments that are joined already, stretches of the same text."""
    partner = {id(group[1][0]): group[0][0] for group in groups}
    place = {id(segment): k for k, segment in enumerate(before)}
    joined = {id(group[0][0]) for group in groups}
    found: list[Group] = []
    left: list[VersionSegment] = []
    right: list[VersionSegment] = []
    start, waiting = 0, []
    for segment in [*after, None]:
        mate = None if segment is None else partner.get(id(segment))
        if segment is not None and mate is None:
            waiting.append(segment)
            continue
        end = len(before) if mate is None else place[id(mate)]
        gap = [one for one in before[start:end] if id(one) not in joined]
        more, *rest = _stretches(gap, waiting)
        found += more
        left += rest[0]
        right += rest[1]
        start, waiting = max(start, end + 1), []
    return found, left, right


def _stretches(
    before: Sequence[VersionSegment], after: Sequence[VersionSegment]
) -> tuple[list[Group], list[VersionSegment], list[VersionSegment]]:
    """The shortest stretches from the front that are the same text on both sides."""
    groups: list[Group] = []
    sides: tuple[list[VersionSegment], list[VersionSegment]] = ([], [])
    texts = ["", ""]
    places = [0, 0]
    both = (before, after)
    while any(place < len(side) for place, side in zip(places, both, strict=True)):
        shorter = min((0, 1), key=lambda k: (len(texts[k]), len(sides[k])))
        if places[shorter] >= len(both[shorter]):
            break  # what the other side has more of belongs to nothing
        segment = both[shorter][places[shorter]]
        places[shorter] += 1
        sides[shorter].append(segment)
        texts[shorter] += _squeezed(segment)
        if texts[0] == texts[1] and all(sides):
            groups.append((sides[0], sides[1]))
            sides, texts = ([], []), ["", ""]
        elif not (texts[0].startswith(texts[1]) or texts[1].startswith(texts[0])):
            break
    left, right = ([*sides[k], *both[k][places[k] :]] for k in (0, 1))
    return groups, left, right
