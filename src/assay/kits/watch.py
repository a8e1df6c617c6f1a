"""Progress of long pieces of work, shown by whoever asked for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Watch(Protocol):
    """Hands on the items of a long piece of work and their number, to show progress."""

    def __call__(self, items: Iterator[Item], total: int, /) -> Iterable[Item]:
        """The same items."""
        ...


def unwatched(items: Iterator[Item], total: int, /) -> Iterable[Item]:
    """Hand the items on and show nothing."""
    return items
