"""Write kits as files: a blind bilingual file per editor, instructions, and a separate key."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any
from unicodedata import normalize

import polars as pl

from assay.errors import InputError, OptionError
from assay.kits.results import BuiltKits, KitDocument, Trace
from assay.results import Note
from assay.tables.answers import edit_distance
from assay.tables.tables import TestSet
from assay.tables.typed_files import save

KIT_FORMATS = ("tsv", "xlsx", "xliff")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
NEAR_SIMILARITY = 90.0
"""Two translations with at least this similarity (%) are nearly the same."""
SUSPECT_SHARE = 0.1
"""A larger share of such segments is suspect: people seldom write exactly what a machine writes."""
MIN_WORDS_TO_COMPARE = 5
"""Shorter segments are not compared: their translations often agree by chance."""


def find_traces(test_set: TestSet, human: str, documents: Sequence[str]) -> tuple[Trace, ...]:
    """Search the human translation for traces of machine translation (korotaev2022, section 2.4).

    >>> import assay, polars as pl
    >>> text = "so many words are not written alike by chance"
    >>> rows = [("H", "d", "1", text), ("A", "d", "1", text), ("B", "d", "1", "quite other words")]
    >>> names = ["system", "doc", "seg", "target"]
    >>> test_set = assay.read_scores(pl.DataFrame(rows, schema=names, orient="row"))
    >>> [(trace.system, trace.suspect) for trace in find_traces(test_set, "H", ["d"])]
    [('A', True), ('B', False)]
    """
    columns = ["doc", "seg", "target"]
    frame = test_set.frame.filter(pl.col("doc").is_in(list(documents)))
    written = frame.filter(pl.col("system") == human).select(columns)
    written = written.filter(pl.col("target").str.count_matches(r"\S+") >= MIN_WORDS_TO_COMPARE)
    traces = []
    for system in test_set.systems:
        if system == human:
            continue
        other = frame.filter(pl.col("system") == system).select(columns)
        pairs = written.join(other, on=["doc", "seg"], maintain_order="left").drop_nulls()
        similarity = [
            100 - edit_distance(left, right)
            for left, right in zip(pairs["target"], pairs["target_right"], strict=True)
        ]
        near = tuple(
            f"{doc}:{seg}"
            for doc, seg, value in zip(pairs["doc"], pairs["seg"], similarity, strict=True)
            if value >= NEAR_SIMILARITY
        )
        count = len(similarity)
        mean = sum(similarity) / count if count else float("nan")
        traces.append(Trace(system, count, mean, near, len(near) > SUSPECT_SHARE * count))
    return tuple(traces)


def build_kits(
    kits: Sequence[KitDocument],
    test_set: TestSet,
    folder: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str] | None = None,
    formats: Sequence[str] = ("tsv",),
    human: str | None = None,
    languages: str | None = None,
) -> BuiltKits:
    """Write the kits of a design, either completely or not at all.

    kits: those of :func:`assay.design_kits`. test_set: the texts, one row per system, document and
    segment with ``source`` and ``target``. folder: must not exist yet. key: the file that says what
    came from whom, by default FOLDER-key.tsv next to the folder; no key is overwritten. formats:
    tsv, xlsx and xliff. human: the human translation, to search for traces of the other systems.
    languages: the language pair in XLIFF files, such as en-de.

    >>> import tempfile
    >>> import assay
    >>> texts = assay.simulate(documents=3, systems=3, texts=True, rng=1).test_set
    >>> documents = texts.segments["doc"].unique(maintain_order=True).to_list()
    >>> design = assay.design_kits(texts.systems, 3, documents=documents, rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     built = build_kits(design.kits, texts, folder + "/kits")
    ...     print(built.editors, [file.name for file in built.files], built.key.name)
    3 ['editor-01.tsv', 'editor-02.tsv', 'editor-03.tsv', 'instructions.txt'] kits-key.tsv
    """
    target = Path(folder)
    key_file = Path(key) if key is not None else target.parent / f"{target.name}-key.tsv"
    check_places(target, key_file, "kits")
    for name in formats:
        if name not in KIT_FORMATS:
            raise OptionError(
                "formats", name, "is not known", f"choose from {', '.join(KIT_FORMATS)}"
            )
    if not formats or not kits:
        raise InputError("there is nothing to build; give a design and at least one format")
    rows = _key_rows(kits, test_set)
    documents = list(dict.fromkeys(item.document for item in kits))
    if human is not None and human not in test_set.systems:
        raise OptionError(
            "human", human, "has no translations", f"choose from {', '.join(test_set.systems)}"
        )
    traces = find_traces(test_set, human, documents) if human is not None else ()
    names = _write_all(rows, target, key_file, formats, languages or "und-und")
    return BuiltKits(
        folder=target,
        key=key_file,
        files=tuple(target / name for name in names),
        editors=rows["editor"].n_unique(),
        segments=rows.height,
        formats=tuple(formats),
        human=human,
        traces=traces,
        warnings=_warnings(traces, human, nameless="xliff" in formats and languages is None),
    )


def _warnings(traces: Sequence[Trace], human: str | None, *, nameless: bool) -> tuple[Note, ...]:
    warnings = [
        Note(
            "traces-of-mt",
            f"{len(trace.near)} of {trace.segments} segments of {human} are almost identical to"
            f" those of {trace.system}: the human translation may have been made from its output",
        )
        for trace in traces
        if trace.suspect
    ]
    if nameless:
        warnings.append(Note(
            "no-languages",
            "the XLIFF files do not name their languages (und), which some tools refuse; name the"
            " language pair, such as en-de",
        ))  # fmt: skip
    return tuple(warnings)


def check_places(folder: Path, key: Path, what: str) -> None:
    """Refuse to overwrite anything, or to put the key into the folder that is sent out."""
    if folder.exists():
        raise OptionError(
            "folder", folder, "exists", f"name a new one; {what} are never overwritten"
        )
    if key.exists():
        raise OptionError("key", key, "exists", "name another file; a lost key cannot be recreated")
    if not folder.absolute().parent.is_dir():
        raise OptionError("folder", folder, "cannot be made", "make the folder above it first")
    if folder.absolute() in key.absolute().parents:
        people = "raters" if what == "sheets" else "editors"
        raise OptionError(
            "key",
            key,
            f"is inside the folder of the {what}",
            f"keep it elsewhere: {people} get that folder",
        )


def _key_rows(kits: Sequence[KitDocument], test_set: TestSet) -> pl.DataFrame:
    """One row per editor and segment, in the order of work."""
    frame = test_set.frame
    missing = [name for name in ("doc", "source", "target") if name not in frame.columns]
    if missing:
        raise InputError(f"the translations lack {', '.join(missing)}; add what editors will see")
    order = test_set.segments.select("doc", "seg").with_row_index("_order")
    texts = frame.join(order, on=["doc", "seg"]).sort("_order")
    parts = {
        (str(system), str(doc)): part
        for (system, doc), part in texts.group_by("system", "doc", maintain_order=True)
    }
    files = file_names([item.editor for item in kits])
    rows = []
    for item in kits:
        part = parts.get((item.system, item.document))
        if part is None:
            raise InputError(
                f"there is no translation of '{item.document}' by '{item.system}'; the design needs"
                " it"
            )
        _need_texts(part, item, order)
        # An id that no other kit has and that no spreadsheet takes for a date.
        kit = f"k{list(files).index(item.editor) + 1:02d}"
        for number, row in enumerate(part.iter_rows(named=True), start=1):
            name = f"{kit}-{item.position}-{number:03d}"
            rows.append(
                (item.editor, files[item.editor], name, item.position, item.document, row["seg"],
                 item.system, row["source"], row["target"])
            )  # fmt: skip
    names = ["editor", "file", "id", "position", "doc", "seg", "system", "source", "mt"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _need_texts(part: pl.DataFrame, item: KitDocument, order: pl.DataFrame) -> None:
    """Refuse a document without the source and the translation of every segment."""
    whole = order.filter(pl.col("doc") == item.document).height
    if part.height < whole:
        raise InputError(
            f"'{item.system}' has {part.height} of the {whole} segments of '{item.document}';"
            " editors need all of them"
        )
    for column in ("source", "target"):
        empty = part.filter(pl.col(column).fill_null("").str.strip_chars() == "")
        if empty.height:
            raise InputError(
                f"{column} of segment {empty['seg'][0]} of '{item.document}' by '{item.system}' is"
                f" empty ({empty.height} in all); fill it in or leave the segment out"
            )


def file_names(editors: Sequence[str]) -> dict[str, str]:
    """A file name for every editor that is valid on any file system."""
    names: dict[str, str] = {}
    for editor in dict.fromkeys(editors):
        name = re.sub(r"[^\w.-]+", "_", editor).strip("._") or "editor"
        taken = {_one_file(other) for other in names.values()}
        free = (f"{name}-{number}" for number in count(2))
        names[editor] = next(n for n in chain([name], free) if _one_file(n) not in taken)
    return names


def _one_file(name: str) -> str:
    """The name as file systems compare it: some ignore case and Unicode forms."""
    return normalize("NFC", name).casefold()


def _write_all(
    rows: pl.DataFrame, folder: Path, key: Path, formats: Sequence[str], languages: str
) -> list[str]:
    def write(place: Path) -> list[str]:
        parts = rows.partition_by("editor", maintain_order=True)
        written = [_write_kit(part, place, name, languages) for part in parts for name in formats]
        sheet = place / "instructions.txt"
        sheet.write_text(_instructions(rows["position"].n_unique()), encoding="utf-8")
        return [*written, sheet.name]

    return write_folder(folder, key, rows, write)


def write_folder(
    folder: Path, key: Path, rows: pl.DataFrame, write: Callable[[Path], list[str]]
) -> list[str]:
    """Write into a temporary folder and rename it when it is complete; write the key."""
    folder = folder.absolute()
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.mkdir()
        written = write(temporary)
        save(rows, key)
        try:
            temporary.rename(folder)
        except OSError:
            key.unlink()
            raise
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}); check the disk"
        ) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return written


def _instructions(parts: int) -> str:
    """The instructions for editors, no more than for any other job (korotaev2022, section 3.4)."""
    return f"""Instructions

Your file has {parts} texts with their translations. The texts are not directly related to each
other.

1. Please edit the translations as you would in any other job, to the quality you would deliver.
   Where a translation is fine, leave it as it is.
2. Work through the texts in the order of the file.
3. Please do the whole job in one sitting, without distractions or long breaks. If you must stop,
   stop between two texts.
4. Change only the translations ("target"). Leave ids, sources and the order of rows as they are.
5. If you note how long you worked on a segment, write it into "seconds", in seconds (90, not
   1:30). This is optional.
6. Work on your own; do not compare notes with colleagues before everybody has finished.
7. Send the file back under the same name.

Thank you!
"""


def _write_kit(rows: pl.DataFrame, folder: Path, name: str, languages: str) -> str:
    """Write one editor's file, which does not reveal the systems."""
    file = f"{rows['file'][0]}.{name}"
    if name == "xliff":
        (folder / file).write_bytes(_xliff(rows, languages))
    else:
        blind = rows.select(
            pl.col("position").alias("text"), "id", "source", pl.col("mt").alias("target"),
            pl.lit(None, dtype=pl.String).alias("seconds"),
        )  # fmt: skip
        save(blind, folder / file)
    return file


def _xliff(rows: pl.DataFrame, languages: str) -> bytes:
    from lxml import etree

    from assay.formats.xliff import XLIFF

    def add(parent: Any, name: str, attributes: dict[str, str]) -> Any:
        return etree.SubElement(parent, f"{{{XLIFF}}}{name}", attributes)

    source, _, target = languages.partition("-")
    if not (source and target):
        raise OptionError("languages", languages, "does not name two", "give SOURCE-TARGET")
    spaces: dict[Any, str] = {None: XLIFF}
    root = etree.Element(f"{{{XLIFF}}}xliff", {"version": "1.2"}, nsmap=spaces)
    for part in rows.partition_by("position", maintain_order=True):
        file = add(root, "file", {
            "original": f"text-{part['position'][0]}", "source-language": source,
            "target-language": target, "datatype": "plaintext", _SPACE: "preserve",
        })  # fmt: skip
        body = add(file, "body", {})
        for row in part.iter_rows(named=True):
            unit = add(body, "trans-unit", {"id": row["id"]})
            try:
                add(unit, "source", {}).text = row["source"]
                add(unit, "target", {"state": "needs-review-translation"}).text = row["mt"]
            except ValueError:
                raise InputError(
                    f"segment {row['seg']} of '{row['doc']}' holds a control character, which XML"
                    " cannot; take it out"
                ) from None
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))
