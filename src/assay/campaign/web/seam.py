"""What the pages need of a campaign."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Link:
    """Who asks: a link, its role, and the rater behind it."""

    id: str
    role: str
    rater: str | None = None
    language: str | None = None


class Campaign(Protocol):
    """The facade."""

    def link(self, token: str) -> Link | None: ...
    def mine(self, link: Link) -> list[dict[str, Any]]: ...
    def mine_one(self, link: Link, lease: str) -> dict[str, Any]: ...
    def media(self, link: Link, code: str) -> tuple[bytes, str]: ...
    def status(self) -> Any: ...
    def links(self) -> Any: ...
    def later(self, method: str, *args: Any) -> Future[Any]: ...
