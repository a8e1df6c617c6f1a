"""Join a translation tool's files from before and after editing into a table of edits.

A translation tool keeps one text per segment: the machine's before editing, the editor's after. So
both versions of every file are read and joined, segment by segment. Segments that were not edited
are left out and counted; those without a partner are listed with their places.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from assay.effort.alignment import Group, align
from assay.effort.folders import Pair, Roles, by_pattern, files_in, name_roles, pair_files
from assay.errors import InputError, OptionError, TableError
from assay.formats.bilingual import Version, VersionSegment, read_version
from assay.results import Note, plural
from assay.stats.progress import Progress, silent
from assay.tables.answers import Edits, read_edits
from assay.tables.load import Columns

Where: TypeAlias = str | Path | Sequence[str | Path]
MOST_LISTED = 5
"""The number of files or segments to name; the rest is counted."""
SAME_TEXT = 0.5
"""Files of one name are one document if they have at least this share of segments in common,"""
SAME_TEXT_RENAMED = 0.8
"""and files of different names if they have at least this share."""

LEFT_OUT = {
    "locked": "locked",
    "untranslated": "without a machine translation",
    "from-memory": "from a translation memory",
    "not-worked-on": "unchanged and not confirmed",
    "unfinished": "emptied and not confirmed",
}
"""The reasons to leave out a segment."""


def read_versions(
    before: Where,
    after: Where,
    *,
    system: str | None = None,
    editor: str | None = None,
    pattern: str | None = None,
    columns: Columns | None = None,
    progress: Progress = silent,
) -> Edits:
    """Read edits from the files of a translation tool before and after editing.

    ``before`` and ``after`` are folders, or files: SDLXLIFF, MXLIFF, MQXLIFF, XLIFF 1.2 and 2.x,
    TMX, tables with ``source`` and ``target``, text with a segment per line. Files are paired by
    name and folder, segments by number and source; split, merged and renumbered ones by their text.

    Systems and editors come from ``system`` and ``editor``, else from the ``pattern`` of an edited
    file's path (``{system}/{editor}/{doc}``), else from folders, else from the files. ``columns``
    maps Assay's names to those of tables.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for state, text in ("mt", "Tea hot."), ("edited", "The tea is hot."):
    ...     (folder / state / "engine-a").mkdir(parents=True)
    ...     _ = (folder / state / "engine-a" / "news.txt").write_text(text)
    >>> edits = read_versions(
    ...     folder / "mt", folder / "edited", pattern="{system}/{doc}", editor="Ada"
    ... )
    >>> edits.frame.select("system", "doc", "mt", "edited").row(0)
    ('engine-a', 'news', 'Tea hot.', 'The tea is hot.')
    """
    (old, _), (new, passed) = (
        files_in(_paths(w), a) for w, a in ((before, "before"), (after, "after"))
    )
    same = {place.path.resolve() for place in old} & {place.path.resolve() for place in new}
    if same:
        raise OptionError(
            "after", sorted(same)[0], "is given as a file before editing too",
            "keep a copy of the files from before editing, and give both folders",
        )  # fmt: skip
    pairs, faults, unused = pair_files(old, new)
    if not pairs:
        raise InputError(f"no file before editing belongs to one after it: {_listed(faults)}")
    versions = _read(pairs, columns, progress)
    joined = [_JoinedPair(pair, *both) for pair, both in zip(pairs, versions, strict=True)]
    _refuse_swapped(joined)
    faults += [fault for item in joined if (fault := item.fault)]
    kept = [item for item in joined if not item.fault]
    if not kept:
        raise InputError(
            f"no file could be joined with its version before editing: {_listed(faults)}"
        )
    if all(old[0].target == new[0].target for item in kept for old, new in item.groups):
        raise InputError(
            f"{kept[0].pair.after.path}: no segment of any file differs from before editing; give"
            " the edited files as `after`, and those with the machine translation as `before`"
        )
    _refuse_languages(kept)
    roles = _roles(kept, system, editor, pattern)
    rows = [row for k, item in enumerate(kept) for row in item.rows(roles, k)]
    if not rows:
        raise InputError(f"no segment counts as edited: {_counted(kept)}")
    faults += [f"{place.shown}: no edited file belongs to it" for place in unused]
    edits = read_edits(_one_name_per_text(pl.DataFrame(rows, infer_schema_length=None)))
    return Edits(edits.frame, (*_notes(kept, roles, edits, faults, passed), *edits.notes))


def _paths(where: Where) -> list[Path]:
    return [Path(where)] if isinstance(where, str | Path) else [Path(item) for item in where]


def _read(
    pairs: Sequence[Pair], columns: Columns | None, progress: Progress
) -> list[tuple[Version, Version]]:
    """Read both versions of every pair; name all unreadable files in one error."""
    found, faults = [], []
    progress("files", 0, len(pairs))
    for number, pair in enumerate(pairs, start=1):
        try:
            old = read_version(pair.before.path, "before", columns)
            found.append((old, read_version(pair.after.path, "after", columns)))
        except TableError as error:
            faults.append(error)
        progress("files", number, len(pairs))
    if len(faults) == 1:
        raise faults[0]
    if faults:
        shown = []
        for fault in faults:
            first = fault.problems[0]
            line = "" if first.line is None else f", line {first.line}"
            shown.append(f"{fault.source}{line}: {first.message}")
        raise InputError(f"{len(faults)} files cannot be read: {_listed(shown)}")
    return found


@dataclass
class _JoinedPair:
    """Both versions of one file, with their segments joined or left out."""

    pair: Pair
    before: Version
    after: Version
    left_out: Counter[str] = field(default_factory=Counter)
    groups: list[Group] = field(default_factory=list)
    left: list[VersionSegment] = field(default_factory=list)
    right: list[VersionSegment] = field(default_factory=list)
    fault: str | None = None

    def __post_init__(self) -> None:
        self.groups, self.left, self.right = align(self.before.segments, self.after.segments)
        self.fault = self._fault()

    def _fault(self) -> str | None:
        """The reason why the two versions are not one text, or None."""
        shown = self.pair.after.shown
        for one, two in zip(self.before.languages, self.after.languages, strict=True):
            if one and two and one.split("-")[0].lower() != two.split("-")[0].lower():
                return f"{shown}: is {two}, and its version before editing is {one}"
        sizes = len(self.before.segments), len(self.after.segments)
        joined = sum(len(group[1]) for group in self.groups)
        if 2 * joined < sizes[1] or (
            self.pair.after.path.suffix == ".txt" and sizes[0] != sizes[1]
        ):
            return (
                f"{shown}: is not the text of {self.pair.before.shown} ({joined} of"
                f" {plural(sizes[1], 'segment')} are in it, which has {sizes[0]})"
            )
        return None

    def rows(self, roles: Roles, number: int) -> Iterable[dict[str, Any]]:
        """Yield the segments that count as edited; count the others."""
        for old, new in self.groups:
            mt, edited = _text(old, "target"), _text(new, "target")
            why = _left_out(old, new, mt, edited)
            if why:
                self.left_out[why] += 1
                continue
            times = [one.seconds for one in new]
            known = [time for time in times if time is not None]
            yield {
                "system": roles.system[number] or _first(old, "system") or _first(new, "system"),
                "doc": roles.doc[number],
                "seg": old[0].seg,
                "editor": roles.editor[number] or _first(new, "editor"),
                "source": _text(old, "source"),
                "mt": mt,
                "edited": edited,
                "seconds": float(sum(known)) if len(known) == len(times) else None,
                "_file": number,
            }


def _text(segments: Sequence[VersionSegment], what: str) -> str | None:
    """The text of one segment, or of several joined."""
    texts = [getattr(one, what) for one in segments]
    if any(text is None for text in texts):
        return None
    # Chinese and its like have no spaces between sentences; elsewhere tools drop them.
    between = " " if any(" " in text for text in texts) else ""
    return texts[0] if len(texts) == 1 else between.join(text.strip() for text in texts)


def _first(segments: Sequence[VersionSegment], what: str) -> Any:
    return next((value for one in segments if (value := getattr(one, what))), None)


def _left_out(
    old: Sequence[VersionSegment], new: Sequence[VersionSegment], mt: str | None, edited: str | None
) -> str | None:
    """The reason to leave out a segment, or None."""
    done = [one.confirmed for one in new]
    if any(one.locked for one in new):
        return "locked"
    if not (mt or "").strip():
        return "untranslated"
    if any(one.machine is False for one in old):
        return "from-memory"
    if False in done and mt == edited and not any(one.seconds for one in new):
        return "not-worked-on"
    return "unfinished" if False in done and not (edited or "").strip() else None


def _refuse_swapped(joined: Sequence[_JoinedPair]) -> None:
    """Refuse versions in the wrong order: the first one was edited."""
    signs = Counter[bool]()
    for item in joined:
        for old, new in item.groups:
            if old[0].target == new[0].target:
                continue
            worked = [bool(side[0].confirmed and not side[0].machine) for side in (old, new)]
            made = [side[0].machine is True for side in (old, new)]
            if worked[0] != worked[1] or made[0] != made[1]:
                signs[worked[0] > worked[1] or made[1] > made[0]] += 1
    if signs[True] > signs[False]:
        raise InputError(
            f"the files before editing seem to be the edited ones: {signs[True]} segments are"
            " confirmed there and the machine's in the others; swap `before` and `after`"
        )


def _refuse_languages(joined: Sequence[_JoinedPair]) -> None:
    """Refuse several target languages, because effort depends on the language."""
    each = Counter(lang.split("-")[0] for item in joined if (lang := item.after.languages[1]))
    if len(each) > 1:
        said = ", ".join(f"{lang}: {plural(number, 'file')}" for lang, number in each.items())
        raise InputError(
            f"the files are of several target languages ({said}); compare one at a time"
        )


def _roles(
    joined: Sequence[_JoinedPair], system: str | None, editor: str | None, pattern: str | None
) -> Roles:
    pairs = [item.pair for item in joined]
    given = {k: v for k, v in (("system", system), ("editor", editor)) if v is not None}
    written = {
        "system": [
            _usual(item.before, "system") or _usual(item.after, "system") for item in joined
        ],
        "editor": [_usual(item.after, "editor") for item in joined],
    }
    found = {} if pattern is None else by_pattern(pairs, pattern)
    roles = name_roles(pairs, written, given, found)
    who = [
        tuple(known or said for known, said in zip(pair, own, strict=True))
        for pair, own in zip(
            zip(roles.system, roles.editor, strict=True), zip(*written.values(), strict=True),
            strict=True,
        )
    ]  # fmt: skip
    return Roles(roles.system, roles.editor, _documents(joined, roles.doc, who), roles.said)


def _usual(version: Version, what: str) -> str | None:
    """The value that most segments of a file have."""
    said = Counter(value for one in version.segments if (value := getattr(one, what)))
    return said.most_common(1)[0][0] if said else None


def _documents(
    joined: Sequence[_JoinedPair], names: Sequence[str], who: Sequence[tuple[str | None, ...]]
) -> list[str]:
    """A name for every text: the file's, unless files of one name are different texts.

    An editor does not edit a text of one system twice, so a similar text is another document.
    """
    texts = [_sources(item) for item in joined]
    firsts: dict[str, int] = {}
    taken: set[tuple[str, tuple[str | None, ...]]] = set()
    found: list[str] = []
    for k, (item, name) in enumerate(zip(joined, names, strict=True)):
        like = []
        for doc, first in firsts.items():
            one, two = texts[k], texts[first]
            same = len(one & two) / len(one | two) if one and two else 0.0
            wanted = SAME_TEXT if doc == name else SAME_TEXT_RENAMED
            if same >= wanted and (doc, who[k]) not in taken:
                like.append(doc)
        if like:
            name = name if name in like else like[0]
        elif name in firsts and (texts[k] is not None or (name, who[k]) in taken):
            name = item.pair.after.shown
        firsts.setdefault(name, k)
        taken.add((name, who[k]))
        found.append(name)
    return found


def _sources(item: _JoinedPair) -> frozenset[str] | None:
    texts = frozenset("".join((one.source or "").split()) for one in item.before.segments)
    return texts - {""} or None


def _one_name_per_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a segment the same number in all files of a document, which may number differently."""
    names: defaultdict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    taken: defaultdict[str, set[str]] = defaultdict(set)
    seen: Counter[tuple[int, str, str]] = Counter()
    segs = []
    for row in frame.iter_rows(named=True):
        doc, source = row["doc"], row["source"]
        text = row["seg"] if source is None else "".join(source.split())
        seen[row["_file"], doc, text] += 1
        key = (text, seen[row["_file"], doc, text])
        if key not in names[doc]:
            name, extra = row["seg"], 1
            while name in taken[doc]:
                extra += 1
                name = f"{row['seg']} ({extra})"
            taken[doc].add(name)
            names[doc][key] = name
        segs.append(names[doc][key])
    empty = [name for name in ("source", "seconds") if not frame[name].count()]
    return frame.with_columns(pl.Series("seg", segs)).drop("_file", *empty)


def _counted(joined: Sequence[_JoinedPair]) -> str:
    total = sum((item.left_out for item in joined), Counter[str]())
    return ", ".join(f"{total[why]:,} {text}" for why, text in LEFT_OUT.items() if total[why])


def _listed(faults: Iterable[str]) -> str:
    every = list(faults)
    more = f"; and {len(every) - MOST_LISTED} more" if len(every) > MOST_LISTED else ""
    return "; ".join(every[:MOST_LISTED]) + more


def _notes(
    joined: Sequence[_JoinedPair], roles: Roles, edits: Edits, faults: Sequence[str],
    passed: Sequence[Path],
) -> list[Note]:  # fmt: skip
    """Note what was joined and what was not."""
    frame = edits.frame
    people = frame["editor"].n_unique()
    how = (
        f"systems and editors {roles.said['system']}"
        if roles.said["system"] == roles.said["editor"]
        else f"systems {roles.said['system']}, editors {roles.said['editor']}"
    )
    systems = ", ".join(frame["system"].unique(maintain_order=True).to_list())
    notes = [Note(
        "joined",
        f"joined: {plural(len(joined), 'file')} before and after editing with"
        f" {plural(frame.height, 'segment')} of {systems} by {plural(people, 'editor')}; {how}",
    )]  # fmt: skip
    if counted := _counted(joined):
        notes.append(Note("left-out", f"segments left out: {counted}"))
    if faults:
        notes.append(Note("not-joined", f"not joined: {_listed(faults)}"))
    lost = [(item, one) for item in joined for one in item.right]
    lost += [(item, one) for item in joined for one in item.left]
    if lost:
        places = [f"{item.pair.after.shown} {one.seg} (line {one.line})" for item, one in lost]
        notes.append(Note(
            "segments-not-joined", f"{plural(len(lost), 'segment')} not joined, since only one"
            f" version has their source: {_listed(places)}",
        ))  # fmt: skip
    if passed:
        kinds = ", ".join(sorted({path.suffix or path.name for path in passed}))
        notes.append(Note("passed-over", f"{plural(len(passed), 'other file')} ignored ({kinds})"))
    return notes
