"""Cells made light: their big arrays and frames are named, and sent apart from them, once.

All cells of a sweep carry the same test set. A cell is pickled without its big parts, each of
which is replaced by a name, the digest of its content; :func:`unpack` puts them back.
"""

from __future__ import annotations

import io
import pickle
import weakref
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import cloudpickle
import numpy as np
import polars as pl

BIG = 16 * 1024
"""Bytes from which an array or frame is sent apart."""


class Packer:
    """Packs cells; ``send(name, content)`` is called once for a part that lives on.

    What ``send`` returns is held as long as the part itself: a part that no cell has any more is
    forgotten here, and so on the cluster.
    """

    def __init__(self, send: Callable[[str, bytes], Any]) -> None:
        self._send = send
        self._sent: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._names: dict[int, tuple[weakref.ref[Any], str, Any]] = {}

    def pack(self, thing: object) -> tuple[bytes, dict[str, Any]]:
        """The thing without its big parts, and what ``send`` gave for each of them, by name."""
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, self._part)
        pickler.dump(thing)
        return buffer.getvalue(), pickler.parts

    def _part(self, item: object) -> tuple[str, Any]:
        known = self._names.get(id(item))
        if known is not None and known[0]() is item:
            return known[1], known[2]
        content = pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL)
        name = blake2b(content, digest_size=16).hexdigest()
        sent = self._sent.get(name)
        if sent is None:  # another array with the same values is the same part
            sent = self._sent[name] = self._send(name, content)
        number = id(item)
        forget = weakref.ref(item, lambda _: self._names.pop(number, None))
        self._names[number] = forget, name, sent
        return name, sent


def unpack(packed: bytes, parts: Mapping[str, object]) -> Any:
    """The thing that was packed."""
    return _Unpickler(io.BytesIO(packed), parts).load()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: io.BytesIO, part: Callable[[object], tuple[str, Any]]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.parts: dict[str, Any] = {}
        self._part = part

    def persistent_id(self, item: object) -> str | None:
        if not _big(item):
            return None
        name, sent = self._part(item)
        self.parts[name] = sent
        return name


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, parts: Mapping[str, object]) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, name: str) -> object:
        return self._parts[name]


def _big(item: object) -> bool:
    if type(item) is np.ndarray:
        return item.dtype != object and item.nbytes >= BIG
    return isinstance(item, pl.DataFrame) and item.estimated_size() >= BIG
