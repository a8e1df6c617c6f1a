"""Text that is not in UTF-8: Excel's "Unicode text", and what old Windows programs write."""

from __future__ import annotations

import re
from pathlib import Path

from assay.results import Note
from assay.tables.load import Findings, refuse

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins."""
ALPHABETS = tuple(map(frozenset, (
    "äöüßàâæçèéêëîïôœùû", "äöüßáéíñóúç", "äöüßàèéìíîòóùú", "äöüßáéèëïó", "äöüßåæøáéóà",
    "áâãàçéêíóôõúü", "àçèéíïòóúü",
)))  # fmt: skip
"""The letters beyond ASCII of western languages, most of them together with those of German.

Not ÿ, which French all but never needs: its byte, 255, is more often damage.
"""
MARKS = frozenset("\xa0‘’“”„‚–—…€«»°§©®¿¡²³½¼µ×±")
"""Other signs that such texts have."""
AMONG_LETTERS = re.compile(
    r"[^\W\d_][^\w\s\x00-\x7f’–—][^\W\d_]|[a-zß-ÿ][–—][a-zß-ÿ]|[…€§][^\W\d_]"
)
"""Signs where a letter belongs, as when a file is from DOS or an old Mac."""
PART_UTF_8 = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2[\x80-\x9f][\x80-\xbf]")
"""What only UTF-8 writes: such a file is damaged, or joined from two."""
MAX_WORDS_SHOWN = 3
"""How many words with such letters the note shows."""


def decode_unusual(data: bytes, source: str) -> str:
    """The text of a file in UTF-16 with its mark; every line that is not UTF-8 is reported."""
    if data.startswith(UTF_16):
        try:
            if not data.startswith(b"\xff\xfe\0\0"):
                return data.decode("utf-16")
            fault = "is UTF-32"
        except UnicodeDecodeError:
            fault = "begins as UTF-16 and is damaged or cut off"
        raise refuse(source, f"{fault}; save the file as UTF-8", line=1)
    if data.startswith(b"PK\x03\x04"):
        raise refuse(source, "is a workbook or a zip file; give it its right ending (.xlsx)")
    findings = Findings(source)
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            near = line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
            message = (
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')"
            )
            findings.add(message, number, None, near)
    findings.stop()
    return data.decode("utf-8-sig")


def in_utf8(data: bytes, path: Path) -> tuple[bytes, tuple[Note, ...]]:
    """The text in UTF-8, with a note if its encoding was guessed.

    UTF-16 says so at its beginning. Windows-1252 does not: it is taken for that where all its
    letters are those of one western language and stand as letters do, and refused otherwise.

    >>> in_utf8("Prüfer;größe".encode("cp1252"), Path("x.csv"))[1]
    ('not UTF-8, read as Windows-1252 (Prüfer, größe); if that looks wrong, save it as UTF-8',)
    """
    if data.startswith(UTF_16):
        return decode_unusual(data, str(path)).encode(), ()
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return data, ()
    text = as_windows_1252(data)
    if text is None:
        return data, ()  # the reader reports the lines
    words = list(dict.fromkeys(re.findall(r"\w*[^\W\x00-\x7f]\w*", text)))
    shown = f" ({', '.join(words[:MAX_WORDS_SHOWN])})" if words else ""
    what = f"not UTF-8, read as Windows-1252{shown}; if that looks wrong, save it as UTF-8"
    return text.encode(), (Note("windows-1252", what),)


def as_windows_1252(data: bytes) -> str | None:
    """The text, if it can hardly be in any other encoding."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    beyond = {sign for sign in text.lower() if not sign.isascii()} - MARKS
    western = any(beyond <= alphabet for alphabet in ALPHABETS)
    plain = not PART_UTF_8.search(data) and not AMONG_LETTERS.search(text) and "\0" not in text
    return text if western and plain else None
