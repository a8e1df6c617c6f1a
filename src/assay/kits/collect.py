"""Join the files that editors sent back with the key, after checking that they belong together."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from assay.errors import InputError, OptionError
from assay.kits.results import CollectedKits
from assay.results import Note
from assay.tables.answers import Edits, edit_distance, read_edits
from assay.tables.load import Findings, Raw, Source, load, refuse, to_number, to_text

Empty: TypeAlias = Literal["refuse", "unchanged", "keep"]
_Row: TypeAlias = "tuple[str, str | None, str]"
"""Id, source (None if the file has none) and translation, with normalised white space."""
XLIFF_ENDINGS = (".xliff", ".xlf", ".mxliff", ".sdlxliff")
_KEY_COLUMNS = ("editor", "file", "id", "position", "doc", "seg", "system", "source", "mt")
_EMPTY = {"unchanged": "taken as unchanged", "keep": "kept, as edits that deleted everything"}
_LISTED = 10
"""How many names a message lists."""
_NO_BREAK = re.compile("[\u00a0\u202f]")
_NEARER_RATIO = 0.5
"""A file is another editor's if its distance to that editor's translations is below this share
of the distance to its own."""


class _KeyPart(NamedTuple):
    """One editor's part of the key, and source and translation by id, white space normalised."""

    rows: pl.DataFrame
    texts: dict[str, tuple[str, str]]

    @property
    def editor(self) -> str:
        return str(self.rows["editor"][0])


def collect_kits(
    key: Source, files: Iterable[str | os.PathLike[str]], *, empty: Empty = "refuse"
) -> Edits:
    """Join the files that editors sent back with the key into a table of edits.

    key: the file that :func:`assay.build_kits` wrote, or its frame. files: those sent back, under
    the names under which they were sent; each must have every segment of its kit once, with the
    source in the key. empty: refuse empty translations, take them as ``unchanged``, or ``keep``
    them as edits that deleted everything. White space around a translation is restored from the
    original. The notes say whose file is missing, who changed nothing, and what was corrected.

    >>> import assay, polars as pl, pathlib, tempfile
    >>> from assay.kits.results import KitDocument
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = [(s, "d", "1", "Guten Tag", "Good day") for s in "AB"]
    >>> names = ["system", "doc", "seg", "source", "target"]
    >>> texts = assay.read_scores(pl.DataFrame(rows, schema=names, orient="row"))
    >>> built = assay.build_kits([KitDocument("E", 1, "d", "A")], texts, folder / "kits")
    >>> edits = assay.collect_kits(built.key, [folder / "kits" / "E.tsv"])
    >>> edits.frame["edited"].to_list(), edits.notes
    (['Good day'], ('E changed nothing; was this file worked on?',))
    """
    if empty not in ("refuse", "unchanged", "keep"):
        raise OptionError("empty", empty, "is not known", "choose from refuse, unchanged, keep")
    if isinstance(files, str | os.PathLike):
        raise OptionError("files", files, "is one path", "give a list of paths")
    kits = _kits(key)
    given = _owners([Path(path) for path in files], kits)
    tables, notes, tidied = [], list[Note](), 0
    for name, path in given.items():
        table, more, number = _collect(path, kits[name], kits, empty)
        tables.append(table)
        notes += more
        tidied += number
    if tidied:
        text = f"white space of the original restored in {tidied} translations"
        notes.append(Note("white-space", text))
    whole = pl.concat(tables)
    if whole["seconds"].null_count() == whole.height:
        whole = whole.drop("seconds")
    notes += _missing(kits, given)
    return Edits(read_edits(whole).frame, tuple(notes))


def summarise_collected(edits: Edits, written: Path) -> CollectedKits:
    """Summarise what :func:`collect_kits` joined and where it was written."""
    notes = edits.notes
    return CollectedKits(len(edits), edits.editors, (written,), notes)


def _kits(key: Source) -> dict[str, _KeyPart]:
    """Read the key, by the names of the files."""
    frame = load(key, text=lambda name: True).frame
    lacking = [name for name in _KEY_COLUMNS if name not in frame.columns]
    if lacking:
        raise InputError(f"the key lacks {', '.join(lacking)}; give the file that build wrote")
    words = [name for name in _KEY_COLUMNS if name != "position"]
    frame = frame.with_columns(to_text(frame[name]).fill_null("") for name in words)
    frame = frame.drop("target", "seconds", "edited", strict=False)
    if frame.select("file", "id").n_unique() < frame.height:
        raise InputError("the key names a segment twice; give the file that build wrote")
    kits = {}
    for part in frame.partition_by("file", maintain_order=True):
        texts = part.select("id", "source", "mt").iter_rows()
        plain = {name: (_plain(source), _plain(mt)) for name, source, mt in texts}
        kits[str(part["file"][0])] = _KeyPart(part, plain)
    return kits


def _owners(files: Sequence[Path], kits: Mapping[str, _KeyPart]) -> dict[str, Path]:
    """The file of each editor, at most one."""
    if not files:
        raise InputError("no file was given; name the files that editors sent back")
    given: dict[str, Path] = {}
    for path in files:
        name = Path(path.name.removesuffix(".gz")).stem
        if name not in kits:
            known = [other for other in kits if other in name] or sorted(kits)
            raise InputError(
                f"{path}: no editor's file has this name; give it the name under which it was sent"
                f" ({listed(known)})"
            )
        if name in given:
            raise InputError(
                f"{kits[name].editor} was given twice ({given[name]}, {path}); give one file"
                " of each editor"
            )
        given[name] = path
    return given


def _collect(
    path: Path, kit: _KeyPart, kits: Mapping[str, _KeyPart], empty: Empty
) -> tuple[pl.DataFrame, list[Note], int]:
    """One editor's rows in the order of the key, notes, and how often white space was restored."""
    raw = _load_kit(path)
    findings = Findings(raw)
    sent = _sent(raw, findings)
    notes = [Note("table", f"{path.name}: {line}") for line in raw.notes]
    if "source" not in raw.frame.columns:
        text = f"{path.name}: no column source, so only ids were compared with the key"
        notes.append(Note("no-source", text))
    if path.suffix.lower() in XLIFF_ENDINGS and _in_order(sent, kit, kits):
        sent = sent.with_columns(kit.rows["id"])
        text = (
            f"{path.name}: its ids are not those of the kit; rows were joined in order, since all"
            " sources agree"
        )
        notes.append(Note("other-ids", text))
    _refuse_others(path, sent, kit, kits)
    _need_rows(sent, kit, findings)
    blank = sent["target"].str.strip_chars() == ""
    if empty == "refuse":
        findings.rows(
            blank, "target", sent["id"],
            "the translation of {} is empty; ask the editor, or say with `empty` what it means"
            " (unchanged: it was fine; keep: everything was deleted)",
        )  # fmt: skip
    findings.stop()
    rows = kit.rows.join(sent.drop("source"), on="id", how="left", maintain_order="left")
    _refuse_moved(path, rows)
    made = [
        _tidy(text, mt, empty) for text, mt in zip(rows["target"], rows["mt"], strict=True)
    ]  # fmt: skip
    edited = pl.Series("edited", [text for text, _ in made], dtype=pl.String)
    if number := int(blank.sum()):
        text = f"{path.name}: {number} empty translations: {_EMPTY[empty]}"
        notes.append(Note("empty-translations", text))
    if (edited == rows["mt"]).all():
        text = f"{kit.editor} changed nothing; was this file worked on?"
        notes.append(Note("nothing-changed", text))
    done = rows.drop("file", "id", "target").with_columns(edited)
    return done, notes, sum(tidied for _, tidied in made)


def _sent(raw: Raw, findings: Findings) -> pl.DataFrame:
    """The rows of the file as text, with the seconds that the editor filled in."""
    frame = raw.frame
    texts = [
        to_text(frame[name]).fill_null("") if name in frame.columns
        else pl.Series(name, [None] * frame.height, dtype=pl.String)
        for name in ("id", "source", "target")
    ]  # fmt: skip
    if "seconds" not in frame.columns:
        return pl.DataFrame([*texts, pl.Series("seconds", [None] * frame.height, dtype=pl.Float64)])
    seconds = to_number(frame["seconds"], findings, "seconds")
    wrong = (seconds < 0) | ~seconds.is_finite()
    findings.rows(wrong, "seconds", seconds, "{} is not a time; correct it or leave the cell empty")
    return pl.DataFrame([*texts, seconds.alias("seconds")])


def _plain(text: str) -> str:
    return " ".join(text.split())


def _in_order(sent: pl.DataFrame, kit: _KeyPart, kits: Mapping[str, _KeyPart]) -> bool:
    """Whether a tool renamed all ids but kept the order and the sources."""
    if any(not other.texts.keys().isdisjoint(sent["id"]) for other in kits.values()):
        return False
    return [_plain(text) for text in sent["source"]] == [text for text, _ in kit.texts.values()]


def _need_rows(sent: pl.DataFrame, kit: _KeyPart, findings: Findings) -> None:
    """Require every segment of the kit once, with its source, and no others."""
    ids, sources = sent["id"], kit.rows["source"]
    places = {name: place for place, name in enumerate(kit.texts)}
    findings.rows(~ids.is_first_distinct(), "id", ids, "{} appears twice; keep the right row")
    given = set(ids)
    known = ids.is_in(list(places))
    findings.rows(~known, "id", ids, "'{}' is not a segment of this kit; keep the ids as they were")
    missing = [name for name in places if name not in given]
    if missing:
        findings.add(
            f"{len(missing)} segments are missing: {listed(missing)}; ask for the whole file, or"
            " put their rows back from the kit as it was sent"
        )
    other = pl.Series(
        [
            text is not None and name in places and _plain(text) != kit.texts[name][0]
            for name, text in zip(ids, sent["source"], strict=True)
        ],
        dtype=pl.Boolean,
    )
    wrong = iter(ids.filter(other))

    def message(found: str) -> str:
        name = next(wrong)
        return (
            f"the source of {name} is '{short(found)}', in the key it is"
            f" '{short(sources[places[name]])}'; were rows moved? ask for the file as it was"
        )

    findings.rows(other, "source", sent["source"], message)


def short(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse_others(
    path: Path, sent: pl.DataFrame, kit: _KeyPart, kits: Mapping[str, _KeyPart]
) -> None:
    """Refuse the file of another editor's kit, by its sources or else by its translations.

    Editors often have the same texts in the same order; then only the translations differ.
    """
    rows = [
        (name, None if source is None else _plain(source), _plain(target))
        for name, source, target in sent.select("id", "source", "target").iter_rows()
    ]
    agreeing = {name: _agreeing(rows, other) for name, other in kits.items()}
    most = max(agreeing.values())
    if most < 0.9 * len(rows) or not rows:
        return
    # Segments have few different translations, so distances are cached.
    distance = cache(edit_distance)
    alike = [kits[name] for name, number in agreeing.items() if number == most]
    nearest = min(alike, key=lambda other: _distance(rows, other, other, distance))
    if _agreeing(rows, kit) == most:
        theirs = _distance(rows, nearest, kit, distance)
        if theirs >= _NEARER_RATIO * _distance(rows, kit, nearest, distance):
            return
    raise InputError(
        f"{path}: this is the kit of {nearest.editor}, not of {kit.editor}; give each file the name"
        " under which it was sent"
    )


def _agreeing(rows: Sequence[_Row], kit: _KeyPart) -> int:
    """The number of rows whose source is that of the kit under the same id."""
    texts = kit.texts
    return sum(name in texts and source in (None, texts[name][0]) for name, source, _ in rows)


def _distance(
    rows: Sequence[_Row], kit: _KeyPart, other: _KeyPart, distance: Callable[[str, str], float]
) -> float:
    """The distance of the rows from a kit's translations, where another kit has different ones."""
    mine, theirs = kit.texts, other.texts
    return sum(
        distance(target, mine[name][1])
        for name, _, target in rows
        if name in mine and name in theirs and (kit is other or mine[name] != theirs[name])
    )


def _refuse_moved(path: Path, rows: pl.DataFrame) -> None:
    """Refuse a column of translations that was moved or sorted without its rows."""
    own, sent = [[_plain(text) for text in rows[name]] for name in ("mt", "target")]
    often = Counter(own)
    homes = {text: place for place, text in enumerate(own) if often[text] == 1}
    moved = [place for place, text in enumerate(sent) if homes.get(text, place) != place]
    still = sum(text == mt for text, mt in zip(sent, own, strict=True))
    if len(moved) > max(1, still):
        here = moved[0]
        raise InputError(
            f"{path}: {len(moved)} translations are those of other rows (first:"
            f" {rows['id'][here]} has that of {rows['id'][homes[sent[here]]]}); was the column"
            " moved or sorted? ask for the file as it was"
        )


def _tidy(text: str, mt: str, empty: Empty) -> tuple[str, bool]:
    """The edited text with the white space of the original, and whether that changed it.

    Tools trim or add space at the ends and turn spaces into no-break spaces; that is not effort.
    """
    if not text.strip():
        return (mt, False) if empty == "unchanged" else ("", False)
    if _plain(text) == _plain(mt):
        return mt, text != mt
    inner = text.strip()
    if not _NO_BREAK.search(mt):
        inner = _NO_BREAK.sub(" ", inner)
    start = mt[: len(mt) - len(mt.lstrip())]
    tidied = start + inner + mt[len(mt.rstrip()) :]
    return tidied, tidied != text


def _missing(kits: Mapping[str, _KeyPart], given: Mapping[str, Path]) -> list[Note]:
    """Note the editors whose file is missing, and what that means for the design."""
    absent = [kit.editor for name, kit in kits.items() if name not in given]
    if not absent:
        return []
    text = f"no file from {len(absent)} of {len(kits)} editors: {listed(absent)}"
    planned, done = _meetings(list(kits.values())), _meetings([kits[name] for name in given])
    systems, documents = ({pair[k] for pair in planned} for k in (0, 1))
    counts = [done.get(pair, 0) for pair in planned]
    if len(set(planned.values())) > 1 or len(planned) < len(systems) * len(documents):
        pass  # there was no balance to lose
    elif len(set(counts)) == 1:
        text += "; every system is still edited equally often in every document"
    else:
        pairs = zip(planned, counts, strict=True)
        gone = [f"{doc} by {system}" for (system, doc), n in pairs if not n]
        lost = f"; no editor edited {listed(gone)}" if gone else ""
        text += (
            f"; the design is no longer balanced: a system is edited {min(counts)} to"
            f" {max(counts)} times in a document{lost}"
        )
    return [Note("files-missing", text)]


def listed(names: Sequence[str]) -> str:
    """Join the first names with commas."""
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")


def _meetings(kits: Sequence[_KeyPart]) -> dict[tuple[str, str], int]:
    """The number of editors by system and document."""
    pairs: Counter[tuple[str, str]] = Counter()
    for kit in kits:
        pairs.update(kit.rows.select("system", "doc").unique().rows())
    return dict(sorted(pairs.items()))


def _load_kit(path: Path) -> Raw:
    """Read a file with id and target, and source and seconds if it has them."""
    if path.suffix.lower() in XLIFF_ENDINGS:
        return _load_units(path)
    raw = load(path, text=lambda name: True)
    for name in ("id", "target"):
        if name in raw.frame.columns:
            continue
        first, *more = raw.frame.columns
        sign = next((sign for sign in ";," if not more and sign in first), None)
        if sign is not None:
            raise refuse(
                str(path), f"its cells are separated by '{sign}', not by tabs as the ending"
                f" {path.suffix} says; rename it to {path.stem}.csv",
            )  # fmt: skip
        raise refuse(str(path), f"there is no column {name}; send the file that editors got")
    return raw


def _load_units(path: Path) -> Raw:
    """Read an XLIFF 1.2 file; Phrase's dialect (MXLIFF) has times."""
    from assay.formats.xliff import CODE, child, flat_text, line_of, read_xml, unit_seconds

    rows, lines = [], []
    for unit in read_xml(path).iter("{*}trans-unit"):
        if unit.get("translate") == "no":
            continue
        source, target = child(unit, "source"), child(unit, "target")
        try:
            seconds = unit_seconds(unit)
        except ValueError as error:
            raise refuse(
                str(path), f"expected milliseconds, found '{error.args[1]}'; export the file again",
                line=line_of(unit),
            ) from None  # fmt: skip
        texts = ["" if item is None else flat_text(item, CODE) for item in (source, target)]
        rows.append((unit.get("id", ""), *texts, seconds))
        lines.append(line_of(unit))
    names = {"id": pl.String, "source": pl.String, "target": pl.String, "seconds": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return Raw(frame, str(path), lambda wanted: [lines[row] for row in wanted])
