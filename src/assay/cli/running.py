"""How work runs: where, with which progress bars, and how a failing command ends."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from assay.cli import note, print_json, progress_bars, visible
from assay.errors import AssayError, InputError, OptionError, TableError

if TYPE_CHECKING:
    from assay.engine import Workers

Item = TypeVar("Item")
Backend: TypeAlias = Literal["serial", "processes", "dask"]
LONG_WORK = 120.0
"""Seconds from which on a command says beforehand how long it will take."""
SETTLED = 10.0
"""Seconds after which the pace is known: the first steps also start processes and fill caches."""


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Pass items on while a progress bar grows on stderr; silent unless that is a terminal."""
    began, told = time.monotonic(), False
    with progress_bars() as advance:
        advance(label, 0, total)
        for done, item in enumerate(items, start=1):
            yield item
            advance(label, done, total)
            if not told:
                told = announce(time.monotonic() - began, done, total)


def announce(seconds: float, done: int, total: int) -> bool:
    """Say how long the rest takes, once the pace is known and if that is minutes."""
    left = seconds * (total - done) / done
    if seconds < SETTLED or left < LONG_WORK:
        return False
    note(
        f"about {left / 60:,.0f} more minutes (done: {done:,} of {total:,}); fewer draws, designs,"
        " methods or sizes take less, more --workers share the work, Ctrl-C ends it"
    )
    return True


def chosen_workers(backend: Backend | None, workers: int | None, scheduler: str | None) -> Workers:
    """Who does the work of a sweep; options that contradict each other are refused.

    >>> chosen_workers(None, 4, None), chosen_workers("processes", None, None)
    (4, 0)
    >>> chosen_workers(None, None, "tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    """
    from assay.engine import Cluster

    if backend == "dask" or (backend is None and scheduler is not None):
        if scheduler is None:
            raise OptionError("--backend", "dask", "needs a cluster", "give --scheduler ADDRESS")
        if workers is not None:
            raise OptionError(
                "--workers", workers, "is for processes of this machine",
                "leave it out: the cluster has as many as were started",
            )  # fmt: skip
        return Cluster(scheduler)
    if scheduler is not None:
        raise OptionError("--scheduler", scheduler, "is for dask", "give --backend dask")
    if backend == "serial" and workers not in (None, 1):
        raise OptionError("--workers", workers, "is not serial", "give --backend processes")
    if workers is None:
        return 0 if backend == "processes" else 1
    return workers


OF_STREAMS = (errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG)
"""Errors of a closed or full output stream; errors of files name their file."""


def stopped(error: BaseException) -> int:
    """Print in one sentence what stopped a command, and return its exit code."""
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__  # typer found the pipe closed
    if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
        return 130
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, OSError) and error.filename is None and error.errno in OF_STREAMS:
        # Discard what is still buffered for stdout.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
        if isinstance(error, BrokenPipeError):
            return 0  # the reader (head, less) closed the pipe
        error = OSError(error.errno, f"cannot be written ({error.strerror})", "standard output")
    if hasattr(error, "format_message"):
        return _usage_error(error)
    problems = error.problems if isinstance(error, TableError) else ()
    text = _sentence(error)
    with suppress(OSError):
        _say_json(text, *map(asdict, problems))
    note(f"assay: {text}")
    return 2 if isinstance(error, InputError) else 1


def _usage_error(error: Any) -> int:
    """An error of usage, in typer's words."""
    from typer.rich_utils import rich_format_error

    text = visible(error.format_message())
    _say_json(text)
    error.format_message = lambda: text
    rich_format_error(error)
    return int(error.exit_code)


def _say_json(text: str, *problems: dict[str, Any]) -> None:
    """The error for programs that asked for JSON, on stdout."""
    if "--json" in sys.argv:
        print_json({"error": text, "problems": list(problems)})


def _sentence(error: BaseException) -> str:
    if isinstance(error, AssayError):
        return str(error)
    if isinstance(error, MemoryError):
        return "the memory ran out; give fewer rows or columns, or use a larger machine"
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    return (
        f"this should not have happened ({type(error).__name__}: {text[:200]}); please report it"
        " to the developers, with the command and the output of --debug"
    )
