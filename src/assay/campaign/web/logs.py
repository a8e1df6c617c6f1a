"""What a server writes down about itself: one JSON object a line, on stderr.

There are no tokens, texts, names or addresses in it. Of our own events the fields are chosen; of
the libraries' only the kind is kept, never what they were given.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback

from assay.campaign.store.clock import iso

OWN = "assay"


class JsonLines(logging.Formatter):
    """A record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event, and its fields."""
        own = record.name.partition(".")[0] == OWN
        # The words of a library before anything was put into them.
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
    """Kind and place of a failure; its message may hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "kind": type(error).__name__,
        "where": [f"{one.filename}:{one.lineno} {one.name}" for one in frames],
    }


def log_to_stderr() -> None:
    """Every request where a program reads along, only what went wrong where a person does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger(OWN).setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
