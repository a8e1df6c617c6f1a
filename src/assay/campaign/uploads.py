"""Uploaded files, kept apart until a campaign is created from them.

A file's type comes from its content. Zip archives are unpacked piece by piece and measured, so a
zip bomb is refused after its first megabytes.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from assay.campaign.records import NotYoursError
from assay.errors import InputError
from assay.formats.text_folder import is_text_name
from assay.tables.irregular_text import UTF_16, as_windows_1252
from assay.tables.limits import FileLimits
from assay.tables.load import FILE_TYPES, file_type

FOLDER = ".uploads"
MOST_BYTES = 64 * 1024 * 1024
"""The largest file that is accepted."""
MOST_UNPACKED = 256_000_000
"""Most bytes of all files of an upload, unpacked."""
MOST_FILES = 300
MOST_NAME = 200
MOST_UPLOADS = 20
KEPT_SECONDS = 24 * 3600
READING = FileLimits(
    bytes=MOST_UNPACKED, ratio=20, rows=2_000_000, columns=500, cells=20_000_000, cell=1_000_000
)
"""Limits of uploaded tables: they use the server's memory, not the reader's."""

PIECE = 1 << 16
ID = re.compile(r"[0-9a-f]{32}")
TABLES, TEXTS, PART = "tables", "texts", "part"

WANTED = (
    "give tables (.xlsx, .csv, .tsv, .jsonl, .parquet), text files with one segment per line, or"
    " a .zip of these"
)


@dataclass(frozen=True, slots=True)
class Upload:
    """The files for one new campaign."""

    folder: Path

    @property
    def id(self) -> str:
        """The id that the page uses."""
        return self.folder.name

    @property
    def part(self) -> Path:
        """A path for a file while it is being received."""
        return self.folder / f"{PART}.{secrets.token_hex(4)}"

    def files(self) -> list[tuple[str, int]]:
        """Every file with its size in bytes."""
        return sorted((self._name(path), path.stat().st_size) for path in self._paths())

    def sources(self) -> list[Path]:
        """The sources of a project: the tables, and the folder of texts."""
        texts = [path for path in self._paths() if (self.folder / TEXTS) in path.parents]
        alone = texts if len(texts) == 1 else [self.folder / TEXTS] if texts else []
        return [*sorted(set(self._paths()) - set(texts)), *alone]

    def take(self, part: Path, name: str) -> None:
        """Keep a received file, or unpack an archive; if it is refused, nothing of it stays."""
        try:
            if kind_of(part, name) == ".zip":
                self._unpack(part, name)
            else:
                self._keep(part, name)
        finally:
            part.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file."""
        for path in self._paths():
            if self._name(path) == name:
                path.unlink()
                return
        raise NotYoursError("there is no such file")

    def discard(self) -> None:
        """Delete the upload."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _paths(self) -> list[Path]:
        found = [*(self.folder / TABLES).glob("*"), *(self.folder / TEXTS).rglob("*")]
        return [path for path in found if path.is_file()]

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix().partition("/")[2]

    def _keep(self, part: Path, name: str) -> None:
        inside = PurePosixPath(name)
        if max(len(one.encode("utf-8", "replace")) for one in inside.parts) > MOST_NAME:
            raise InputError(f"{name[:40]}...: the name is too long; give a shorter one")
        ending = kind_of(part, inside.name)
        if ending in (".txt", ""):
            place = self.folder / TEXTS / inside.parent.name / inside.name
        else:
            place = self.folder / TABLES / inside.with_suffix(_kept_suffix(inside, ending)).name
        kept = [path for path in self._paths() if path != place]
        if len(kept) >= MOST_FILES:
            raise InputError(f"{name}: there are already {MOST_FILES} files; upload fewer")
        total = sum(path.stat().st_size for path in kept) + part.stat().st_size
        if total > MOST_UNPACKED:
            raise InputError(
                f"{name}: all files together exceed {MOST_UNPACKED // 10**6} MB; upload fewer"
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        part.replace(place)

    def _unpack(self, archive: Path, name: str) -> None:
        made = self.folder / f"unpacked.{secrets.token_hex(4)}"
        made.mkdir()
        try:
            members = list(_members(archive, name, made))
            if not members:
                raise InputError(f"{name} has no files; {WANTED}")
            names = [_flat(inside, place) for inside, place in members]
            if twice := next((one for one in names if names.count(one) > 1), None):
                raise InputError(f"{name} has two files {twice}; give them different names")
            for inside, place in members:
                if kind_of(place, inside) == ".zip":
                    raise InputError(f"{name} contains an archive ({inside}); unpack it first")
            for inside, place in members:
                self._keep(place, inside)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _kept_suffix(name: PurePosixPath, ending: str) -> str:
    return name.suffix if name.suffix.lower() == ".gz" else ending


def _flat(inside: str, place: Path) -> str:
    """The name that must be unique in an archive: tables lose their folders, texts keep one."""
    path = PurePosixPath(inside)
    texts = kind_of(place, inside) in (".txt", "")
    return f"{path.parent.name}/{path.name}" if texts else path.name


def _members(archive: Path, name: str, made: Path) -> Iterator[tuple[str, Path]]:
    """Every file of an archive: its path there, and where it was unpacked."""
    total = 0
    try:
        with zipfile.ZipFile(archive) as opened:
            wanted = [one for one in opened.infolist() if not _is_junk(one)]
            if len(wanted) > MOST_FILES:
                raise InputError(f"{name} has {len(wanted):,} files; pack at most {MOST_FILES}")
            if sum(one.file_size for one in wanted) > MOST_UNPACKED:
                raise _bomb(name)
            for number, member in enumerate(wanted):
                place = made / str(number)
                with opened.open(member) as packed, place.open("wb") as file:
                    while piece := packed.read(PIECE):
                        total += len(piece)
                        if total > MOST_UNPACKED:
                            raise _bomb(name)
                        file.write(piece)
                yield member.filename.replace("\\", "/"), place
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is damaged or uses an unusual compression; repack it") from None
    except RuntimeError:
        raise InputError(f"{name} is protected by a password; pack it without one") from None


def _bomb(name: str) -> InputError:
    return InputError(
        f"{name} unpacks to more than the limit of {MOST_UNPACKED // 10**6} MB; upload fewer files"
    )


def _is_junk(member: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return member.is_dir() or hidden or path.name in ("", "Thumbs.db", "desktop.ini")


def kind_of(path: Path, name: str) -> str:
    """The type of a file by its content: the ending of a table, ``.zip``, or ``.txt`` for texts.

    Raises:
        InputError: No campaign can be created from such a file.
    """
    with path.open("rb") as file:
        head = file.read(PIECE)
    if not head.strip():
        raise InputError(f"{name} is empty; {WANTED}")
    if head[:4] == b"PK\x03\x04":
        return _archive(path, name)
    if head[:4] == b"PAR1":
        return ".parquet"
    ending = PurePosixPath(name).suffix.lower()
    if head[:2] == b"\x1f\x8b" and ending == ".gz":
        return file_type(Path(name))
    if not _is_text(head) or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        raise InputError(f"{name} is neither a table nor a text in UTF-8; {WANTED}")
    if ending in (".zip", ".xlsx", ".parquet", ".gz"):
        raise InputError(f"{name} is named {ending} but is a text file; save or pack it again")
    if ending in (".tab", ".ndjson", *FILE_TYPES):
        return file_type(Path(name))
    if is_text_name(Path(name)):
        return ".txt"
    raise InputError(f"{name} has an unknown ending ({ending}); {WANTED}")


def _archive(path: Path, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as opened:
            names = opened.namelist()[:10_000]
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise InputError(f"{name} is damaged or incomplete; save or pack it again") from None
    if any(one.startswith("xl/") for one in names):
        return ".xlsx"
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise InputError(f"{name} is a document, not a table; {WANTED}")
    return ".zip"


def _is_text(head: bytes) -> bool:
    encoding = "utf-16" if head.startswith(UTF_16) else "utf-8"
    try:
        return "\0" not in getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return as_windows_1252(head) is not None


def begin_upload(home: Path) -> Upload:
    """Start an upload; old ones that were never used are deleted."""
    root = home / FOLDER
    root.mkdir(mode=0o700, exist_ok=True)
    old = sorted(root.iterdir(), key=lambda path: path.stat().st_mtime)
    for number, path in enumerate(reversed(old), start=1):
        if number >= MOST_UPLOADS or time.time() - path.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
    upload = Upload(root / secrets.token_hex(16))
    for name in (TABLES, TEXTS):
        (upload.folder / name).mkdir(parents=True)
    return upload


def find_upload(home: Path, name: str) -> Upload:
    """The upload that a page continues."""
    upload = Upload(home / FOLDER / name)
    if not ID.fullmatch(name) or not upload.folder.is_dir():
        raise NotYoursError("these files are no longer here; upload them again")
    return upload
