"""The data of korotaev2022: the corpus, and what six editors did.

``effectiff_corpus.tsv.gz`` has a row per paragraph (``text``); ``effectiff_segments.tsv.gz`` a row
per edited segment: ``document`` (DocI, DocII, DocIII), ``seg``, ``engine``, ``editor``, ``source``,
``mt``, ``edited``, ``src_words``, ``edit_time_s``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.papers.korotaev2022_numbers import DOCUMENTS, ENGINES
from assay.tables.answers import Edits, read_edits

CORPUS = "effectiff_corpus.tsv.gz"
SEGMENTS = "effectiff_segments.tsv.gz"
COLUMNS = {
    "doc": "document", "system": "engine", "seconds": "edit_time_s", "words": "src_words",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Data:
    """The file of the corpus and the edits; None where the folder lacks them."""

    corpus: Path | None
    edits: Edits | None


def read_folder(folder: Path) -> Data:
    """What the folder has of the two files."""
    if not folder.is_dir():
        raise InputError(f"data ({folder}) is no folder; give the one with {CORPUS} and {SEGMENTS}")
    corpus = folder / CORPUS
    path = folder / SEGMENTS
    edits = read_edits(path, columns=COLUMNS) if path.is_file() else None
    if edits is not None:
        for column, known in (("doc", tuple(DOCUMENTS)), ("system", ENGINES)):
            other = sorted(set(edits.frame[column]) ^ set(known))
            if other:
                raise InputError(
                    f"{path}: {COLUMNS[column]} is not {', '.join(known)} (too much or missing:"
                    f" {', '.join(other[:5])}); give the paper's own table"
                )
    return Data(corpus if corpus.is_file() else None, edits)
