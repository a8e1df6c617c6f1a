"""Images, audio and video that belong to sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.errors import InputError

TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
    ".m4a": "audio/mp4", ".flac": "audio/flac", ".mp4": "video/mp4", ".webm": "video/webm",
}  # fmt: skip
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Media:
    """A file with the hash of its content, under which it is stored once."""

    hash: str
    type: str
    body: bytes


def read_media(folder: Path, names: Iterable[str | None]) -> dict[str, Media]:
    """Read the files that the column ``media`` names, relative to the folder."""
    found: dict[str, Media] = {}
    faults = []
    for name in dict.fromkeys(name for name in names if name is not None):
        path = folder / name
        kind = TYPES.get(path.suffix.lower())
        if kind is None:
            faults.append(f"'{name}' has an unknown type; give {', '.join(TYPES)}")
        elif not path.is_file():
            faults.append(f"'{name}' is not in '{folder}'; copy it there")
        elif path.stat().st_size > MOST_BYTES:
            faults.append(f"'{name}' is larger than {MOST_BYTES >> 20} MB; make it smaller")
        else:
            body = path.read_bytes()
            found[name] = Media(sha256(body).hexdigest(), kind, body)
    if faults:
        raise InputError("the column 'media' cannot be used:\n  " + "\n  ".join(faults[:20]))
    return found
