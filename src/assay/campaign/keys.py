"""For the owner only: the links of a campaign, its store, and where it is served.

Links work like passwords, so the store does not contain them. They are kept in a file that only
its owner can read.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from assay.errors import InputError

FILE, HUB_FILE = "campaign.json", "hub.json"
_CHANGING = threading.Lock()
ADDRESS = "http://127.0.0.1:8017"


@dataclass(frozen=True, slots=True)
class Keys:
    """The tokens of a campaign's links."""

    file: ClassVar[str] = FILE

    owner: str
    viewer: str
    join: str
    raters: dict[str, str] = field(default_factory=dict)
    """Rater to token."""
    store: str | None = None
    """The address of the database, if it is not a file in the same folder."""
    public: str = ADDRESS
    """The address that links begin with."""
    served: str | None = None
    """The address of the running server."""

    def links(self) -> dict[str, Any]:
        """All links as addresses."""
        return {
            "owner": self.link(self.owner), "viewer": self.link(self.viewer),
            "join": self.link(self.join),
            "raters": [
                {"rater": rater, "link": self.link(token), "token": token}
                for rater, token in self.raters.items()
            ],
        }  # fmt: skip

    def link(self, token: str) -> str:
        """The address that a token opens."""
        return f"{self.public}/r/{token}"


@dataclass(frozen=True, slots=True)
class HubKeys:
    """The token of the owner of a server with several campaigns."""

    file: ClassVar[str] = HUB_FILE

    owner: str
    public: str = ADDRESS
    """The address that links begin with."""
    served: str | None = None
    """The address of the running server."""

    @property
    def link(self) -> str:
        """The owner's link to all campaigns."""
        return f"{self.public}/r/{self.owner}"


Kept = TypeVar("Kept", Keys, HubKeys)


def write_keys(folder: Path, keys: Keys | HubKeys) -> None:
    """Write the keys of a campaign or server, readable by this user only."""
    path = folder / keys.file
    part = folder / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(keys), file, ensure_ascii=False, indent=1)
        part.replace(path)
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be written ({error.strerror}); check the folder and the disk"
        ) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read_keys(folder: Path) -> Keys:
    """Read the keys of a campaign."""
    return _read(folder, Keys, "name the folder of a campaign")


def read_hub_keys(folder: Path) -> HubKeys:
    """Read the keys of a server with several campaigns."""
    return _read(folder, HubKeys, "name a folder of campaigns")


def _read(folder: Path, kind: type[Kept], remedy: str) -> Kept:
    path = folder / kind.file
    try:
        return kind(**json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InputError(f"'{path}' cannot be read ({error.strerror}); {remedy}") from None
    except (ValueError, TypeError):
        raise InputError(f"'{path}' is damaged; restore it from a backup") from None


def keep_raters(folder: Path, tokens: dict[str, str]) -> Keys:
    """Add raters' links to the stored keys."""
    with _CHANGING:
        keys = read_keys(folder)
        write_keys(folder, keys := replace(keys, raters=keys.raters | tokens))
    return keys


@contextmanager
def served_at(folder: Path, address: str, public: str | None) -> Iterator[Keys]:
    """Record the address of the server while it runs."""
    keys = read_keys(folder)
    write_keys(folder, keys := replace(keys, served=address, public=public or address))
    try:
        yield keys
    finally:
        write_keys(folder, replace(read_keys(folder), served=None))
