"""Results kept current while campaigns are served: a process computes, the one writer stores."""

from __future__ import annotations

import json
import logging
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from assay.campaign.hub import Hub
from assay.errors import AssayError

SECONDS_BETWEEN_CHECKS = 0.5
"""Seconds between two checks whether a look is due."""
MAX_SILENT_SECONDS = 600.0
"""Seconds after which a silent process is killed."""
LONGEST_PAUSE = 30.0
"""Longest wait, in seconds, before a process that keeps failing is restarted."""
STOP_SECONDS = 5.0

log = logging.getLogger("assay.campaign")


class Refresher:
    """Asks the process for results repeatedly, and restarts it when it has ended."""

    def __init__(self, hub: Hub, every: float = SECONDS_BETWEEN_CHECKS) -> None:
        self._hub, self._every = hub, every
        self._stop = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="campaign-results", daemon=True)
        self.started = 0
        """How often the process was started."""

    @property
    def process(self) -> int | None:
        """The id of the process, while it runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the thread."""
        self._hub.refreshed = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and the process; unfinished results are computed next time."""
        self._stop.set()
        self._thread.join(STOP_SECONDS)
        self._end()

    def _run(self) -> None:
        pause = self._every
        while not self._stop.wait(pause):
            try:
                if self._process is None:
                    self._begin()
                self._ask()
                pause = self._every
            except (OSError, EOFError, ValueError, queue.Empty) as error:
                if self._stop.is_set():
                    return
                reason = f"{type(error).__name__} {error}".strip()
                log.warning("results", extra={"fields": {"ended": reason, "starts": self.started}})
                self._end()
                pause = min(2 * pause, LONGEST_PAUSE)

    def _begin(self) -> None:
        """Start a process, and a thread that reads its replies so that waiting can time out."""
        self.started += 1
        process = subprocess.Popen(
            [sys.executable, "-m", "assay.campaign.live.process"], text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._process, self._lines = process, queue.SimpleQueue()
        threading.Thread(target=_take, args=(process, self._lines), daemon=True).start()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # closing flushes what was never read
                    pipe.close()

    def _ask(self) -> None:
        """Store everything new about every campaign."""
        places = {slug: one.place.address for slug, one in list(self._hub.campaigns.items())}
        self._say(json.dumps(places))
        while not self._stop.is_set():
            line = self._lines.get(timeout=MAX_SILENT_SECONDS)
            if not line:
                raise EOFError
            message = json.loads(line)
            if "done" in message:
                self._hub.refreshed = time.monotonic()
                return
            self._keep(message)
            self._say("kept")

    def _say(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _keep(self, message: dict[str, Any]) -> None:
        campaign = self._hub.campaigns.get(message["slug"])
        if campaign is None:
            return
        try:
            if "look" in message:
                campaign.keep_look(message["look"])
            elif "result" in message:
                campaign.keep_results(message["basis"], message["result"], message["sets"])
            else:
                fields = {"campaign": campaign.slug, "fault": message["fault"]}
                log.warning("results", extra={"fields": fields})
        except AssayError as error:  # a full disk or a stopping server: retried later
            raise ValueError(str(error)) from error


def _take(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    """Queue every reply of the process, then an empty line once it has ended."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.put(line)
    except ValueError:  # closed while reading
        pass
    lines.put("")


@contextmanager
def results_kept_current(hub: Hub, every: float = SECONDS_BETWEEN_CHECKS) -> Iterator[Refresher]:
    """Keep the results of all campaigns of a server current until the block ends."""
    refresher = Refresher(hub, every)
    refresher.start()
    try:
        yield refresher
    finally:
        refresher.stop()
