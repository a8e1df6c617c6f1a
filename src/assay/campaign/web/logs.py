"""The server's log: one JSON object per line, on standard error.

It contains no tokens, texts, names or addresses. Assay's events have chosen fields; those of
libraries are reduced to their kind, without their arguments.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback

from assay.campaign.store.clock import iso

OWN = "assay"


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event, and its fields."""
        own = record.name.partition(".")[0] == OWN
        # A library's message before its arguments are filled in.
        event = record.getMessage() if own else str(record.msg).partition("\n")[0]
        line = {
            "time": iso(int(record.created * 1000)), "level": record.levelname.lower(),
            "event": event, **({} if own else {"logger": record.name}),
            **getattr(record, "fields", {}),
        }  # fmt: skip
        if record.exc_info and record.exc_info[1] is not None:
            line |= failure(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def failure(error: BaseException) -> dict[str, object]:
    """Kind and place of a failure, without its message, which may quote user data."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "kind": type(error).__name__,
        "where": [f"{one.filename}:{one.lineno} {one.name}" for one in frames],
    }


def log_to_stderr() -> None:
    """Log every request, or only warnings if standard error is a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger(OWN).setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
