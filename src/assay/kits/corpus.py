"""Read the paragraphs of a corpus from ``.txt``, ``.docx``, or a table with a ``text`` column."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.errors import MissingExtraError, OptionError, did_you_mean
from assay.results import Note
from assay.tables.load import FILE_TYPES, decode_utf8, load, read_bytes, refuse
from assay.tables.packed import need_sound_archive

MOST_PARAGRAPHS = 1_000_000
"""The most paragraphs that a file may have."""
LONGEST_WRAPPED_LINE = 120
"""If no line is longer and some are empty, the lines between empty ones are one paragraph."""
SPACES = r"(?:(?<!\s)\s+)?"
"""Optional spaces, matched only from the first one of a run, which keeps the search linear."""
CITATION = re.compile(SPACES + r"\([^()]{0,500}\b(?:1[5-9]|20)\d\d[a-z]?\b[^()]{0,500}\)")
NOTE = re.compile(
    SPACES + r"\[\d{1,3}(?: ?[,–-] ?\d{1,3})*\]|(?<=[^\W\d_][.,;:!?’”\")])\d{1,3}(?!\S)"
)
ADDRESS = re.compile(SPACES + r"\b(?:https?://|www\.)\S+")
END = re.compile(r"[.!?:;…。！？][\"'’”»)\]]*$")
UNSPACED = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)
"""Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han."""
MOST_SIGNS_PER_WORD = 10
"""A text in such a script with more characters per word was not split into words."""

CLEANING = {
    "citations": "bracketed references with a year: (Smith 2012: 34)",
    "notes": "marks of notes: [12], or digits right after a word's full stop",
    "addresses": "web addresses",
    "headings": "paragraphs styled as a heading, or of up to 12 words without a final stop",
}
"""What can be removed before the text is cut into pieces."""


class CorpusText(NamedTuple):
    """One document: its name, its paragraphs, and notes on how it was read."""

    doc: str
    paragraphs: tuple[str, ...]
    notes: tuple[Note, ...] = ()


class _Paragraph(NamedTuple):
    text: str
    style: str = ""


def read_text(source: str | os.PathLike[str], *, clean: Sequence[str] = ()) -> list[CorpusText]:
    """Read the documents of one file and clean them by the rules in ``clean``.

    A ``.txt`` or ``.docx`` file is one document; a table has one per value of its ``doc`` column,
    in the order of the rows.
    """
    for rule in clean:
        if rule not in CLEANING:
            raise OptionError(
                "clean", rule, f"is not a rule{did_you_mean(rule, list(CLEANING))}",
                f"choose from {', '.join(CLEANING)}",
            )  # fmt: skip
    path = Path(source)
    ending = _ending(path)
    notes: tuple[Note, ...] = ()
    if ending == ".txt":
        documents = {path.name.removesuffix(".gz").removesuffix(".txt"): _from_plain(path)}
    elif ending == ".docx":
        paragraphs, notes = _from_docx(path)
        documents = {path.stem: paragraphs}
    else:
        documents = _from_table(path)
    count = sum(map(len, documents.values()))
    if count > MOST_PARAGRAPHS:
        raise refuse(str(path), f"has {count:,} paragraphs; give at most {MOST_PARAGRAPHS:,}")
    return [_cleaned(doc, found, clean, notes) for doc, found in documents.items()]


def need_spaces(texts: Sequence[CorpusText]) -> None:
    """Refuse texts without spaces between words: every line would count as one word."""
    for text in texts:
        tokens = [token for paragraph in text.paragraphs for token in paragraph.split()]
        signs = sum(map(len, tokens))
        unspaced = sum(len(UNSPACED.findall(token)) for token in tokens)
        if signs > MOST_SIGNS_PER_WORD * len(tokens) and unspaced > 0.3 * signs:
            raise refuse(
                text.doc,
                f"has {signs} characters in {len(tokens)} words: its language is written without"
                " spaces, so words cannot be counted; insert spaces between words first (jieba,"
                " MeCab or PyThaiNLP do that)",
            )


def notes_on_twins(texts: Sequence[CorpusText]) -> list[Note]:
    """Note texts that share a name or are identical."""
    names = Counter(text.doc for text in texts)
    notes = [
        Note("same-name", f"{number} texts are called {name}; give them different names")
        for name, number in names.items()
        if number > 1
    ]
    known: dict[tuple[str, ...], str] = {}
    for text in texts:
        if text.paragraphs in known:
            notes.append(Note(
                "same-text",
                f"{known[text.paragraphs]} and {text.doc} are the same text, so every piece occurs"
                " twice",
            ))  # fmt: skip
        known.setdefault(text.paragraphs, text.doc)
    return notes


def _ending(path: Path) -> str:
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    known = (".txt", ".docx", *FILE_TYPES)
    if ending not in known and not path.is_dir():
        raise refuse(str(path), f"file type '{ending}' is not text; use one of {' '.join(known)}")
    return ending or ".txt"


def _from_plain(path: Path) -> list[_Paragraph]:
    data = read_bytes(path)
    if b"\0" in data:
        raise refuse(str(path), "is not a text file (it has zero bytes); save it as UTF-8 text")
    lines = [line.strip() for line in decode_utf8(data, str(path)).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if "" in lines and max(map(len, lines)) <= LONGEST_WRAPPED_LINE:
        blocks = "\n".join(lines).split("\n\n")
        return [_Paragraph(" ".join(block.split())) for block in blocks]
    return [_Paragraph(line) for line in lines]


def _from_docx(path: Path) -> tuple[list[_Paragraph], tuple[Note, ...]]:
    try:
        import docx
    except ImportError:
        raise MissingExtraError("reading .docx files", "kits") from None
    data = read_bytes(path)
    need_sound_archive(data, path, "Word document")
    try:
        document = docx.Document(io.BytesIO(data))
        found = [
            _Paragraph(line.strip(), getattr(paragraph.style, "name", None) or "")
            for paragraph in document.paragraphs
            for line in paragraph.text.splitlines()
        ]
        tables = len(document.tables)
    except Exception:  # a damaged package can fail in many ways
        raise refuse(str(path), "is not a Word document (.docx); save it again from Word") from None
    text = f"{path.name}: {tables} tables in the document were not read"
    return found, (Note("tables-not-read", text),) if tables else ()


def _from_table(path: Path) -> dict[str, list[_Paragraph]]:
    raw = load(path, text=lambda name: name in ("text", "style", "doc"))
    names = raw.frame.columns
    if "text" not in names:
        hint = did_you_mean("text", names)
        raise refuse(
            raw.source, f"there is no column 'text'{hint}; it has {', '.join(names)}", column="text"
        )
    count = raw.frame.height
    styles = raw.frame["style"].to_list() if "style" in names else [""] * count
    docs = raw.frame["doc"].to_list() if "doc" in names else [_stem(path)] * count
    documents: dict[str, list[_Paragraph]] = {} if count else {_stem(path): []}
    for doc, text, style in zip(docs, raw.frame["text"].to_list(), styles, strict=True):
        lines = str(text if text is not None else "").splitlines()
        found = [_Paragraph(line.strip(), str(style or "")) for line in lines]
        documents.setdefault(str(doc), []).extend(found)
    return documents


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _cleaned(
    doc: str, found: list[_Paragraph], clean: Sequence[str], notes: tuple[Note, ...]
) -> CorpusText:
    counted = list(notes)
    for rule in dict.fromkeys(clean):
        if rule == "headings":
            kept = [item for item in found if not _is_heading(item)]
            removed = len(found) - len(kept)
            found = kept
        else:
            pattern = {"citations": CITATION, "notes": NOTE, "addresses": ADDRESS}[rule]
            done = [pattern.subn("", item.text) for item in found]
            removed = sum(number for _, number in done)
            found = [
                _Paragraph(text.strip(), item.style)
                for (text, _), item in zip(done, found, strict=True)
            ]
        counted.append(Note("cleaned", f"{doc}: {removed} {rule} removed"))
    paragraphs = tuple(item.text for item in found if item.text)
    if not paragraphs:
        raise refuse(doc, "the document has no text; leave it out or give its text")
    return CorpusText(doc, paragraphs, tuple(counted))


def _is_heading(item: _Paragraph) -> bool:
    if not item.text:
        return False
    if item.style.lower().startswith(("heading", "title")):
        return True
    return len(item.text.split()) <= 12 and not END.search(item.text)
