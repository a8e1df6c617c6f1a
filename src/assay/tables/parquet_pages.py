"""What a Parquet file unpacks to, by the headers of its pages.

A page of a few bytes may stand for millions of values, and the reader makes room for what its
header says. The footer and the headers are Thrift structures in the compact protocol; they are
read here, before the reader sees the file.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VALUE_BYTES = 8
DEEPEST = 12
"""Structures inside each other; the footer has about six."""
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
# Fields by number, as in the format's definition.
ROW_GROUPS, COLUMNS, META = 4, 1, 3
PACKED_SIZE, DATA_PAGE, DICTIONARY_PAGE = 7, 9, 11
ENCODINGS, PREFIXES = ((5, 2), (8, 4)), 7
PAGE_UNPACKED, PAGE_PACKED, PAGE_KINDS, PAGE_VALUES = 2, 3, (5, 7, 8), 1


class DamagedError(ValueError):
    """The bytes are not the structure that should stand there."""


def unpacked_size(source: bytes | Path) -> int:
    """How many bytes the pages of all columns fill at least once unpacked."""
    if isinstance(source, bytes):
        return _size(source)
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _size(data)


def _size(data: bytes | mmap.mmap) -> int:
    end = len(data) - 8
    start = end - int.from_bytes(data[end : end + 4], "little")
    if not 0 <= start <= end:
        raise DamagedError("its footer is longer than the file")
    footer = _Compact(data, start, end).struct()
    return sum(
        _chunk(data, chunk[META]) for group in footer[ROW_GROUPS] for chunk in group[COLUMNS]
    )


def _chunk(data: bytes | mmap.mmap, about: dict[int, Any]) -> int:
    """The pages of one column in one row group."""
    place = about.get(DICTIONARY_PAGE, about[DATA_PAGE])
    end, total = place + about[PACKED_SIZE], 0
    if place < 0 or end > len(data):
        raise DamagedError("a column ends after the file")
    while place < end:
        header = _Compact(data, place, end)
        page = header.struct()
        values = sum(page[kind][PAGE_VALUES] for kind in PAGE_KINDS if kind in page)
        if min(values, page[PAGE_UNPACKED], page[PAGE_PACKED]) < 0:
            raise DamagedError("a page has a negative size")
        total += page[PAGE_UNPACKED] + VALUE_BYTES * values
        if PREFIXES in (page.get(kind, {}).get(field) for kind, field in ENCODINGS):
            total += page[PAGE_UNPACKED] * values  # each may repeat all that came before it
        place = header.place + page[PAGE_PACKED]
    return total


class _Compact:
    """Reads the compact protocol: a structure is a dictionary by the numbers of its fields."""

    def __init__(self, data: bytes | mmap.mmap, place: int, end: int) -> None:
        self.data, self.place, self.end = data, place, end

    def byte(self) -> int:
        if self.place >= self.end:
            raise DamagedError("a structure does not end")
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise DamagedError("a number is too long")
        return value | byte << shift

    def signed(self) -> int:
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def skip(self, count: int) -> int:
        """Where ``count`` bytes begin."""
        self.place += count
        if self.place > self.end:
            raise DamagedError("a structure does not end")
        return self.place - count

    def value(self, kind: int, depth: int) -> Any:
        if kind in INTEGERS:
            return self.signed()
        if kind == BINARY:
            length = self.number()
            start = self.skip(length)
            return self.data[start : start + length]
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in LISTS:
            return list(self.items(depth + 1))
        if kind in (BYTE, TRUE, FALSE):  # of a list: a field has it in its kind
            return self.byte()
        if kind == DOUBLE:
            return self.skip(8)
        raise DamagedError("a value is of no known kind")

    def items(self, depth: int) -> Iterator[Any]:
        first = self.byte()
        count = first >> 4
        count = self.number() if count == 15 else count
        for _ in range(count):
            yield self.value(first & 15, depth)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > DEEPEST:
            raise DamagedError("structures are inside each other without end")
        fields: dict[int, Any] = {}
        number = 0
        while first := self.byte():
            number = number + (first >> 4) if first >> 4 else self.signed()
            kind = first & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth)
        return fields
