"""How a failing command ends: a sentence on stderr, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from assay.cli import note, print_json, visible
from assay.errors import AssayError, InputError, TableError

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
