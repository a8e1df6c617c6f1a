"""Serving a campaign until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn

from assay._version import __version__
from assay.campaign.campaign import Campaign
from assay.campaign.hub import Hub, hub_of
from assay.campaign.live.refresh import results_kept_current
from assay.campaign.web.app import create_app
from assay.campaign.web.connections import Connection
from assay.campaign.web.logs import log_to_stderr
from assay.errors import AssayError

log = logging.getLogger("assay.campaign")

MOST_SECONDS = 8
"""For requests in progress when the server is told to stop."""


class QuietServer(uvicorn.Server):
    """A server that stops at a signal without ending the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; uvicorn alone would raise them again at the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def _count(hub: Hub) -> None:
    """Count what came in earlier, so that the first page of an owner need not wait for it."""
    for campaign in list(hub.campaigns.values()):
        with suppress(AssayError):
            campaign.status()


def serve(
    served: Campaign | Hub,
    *,
    host: str = "127.0.0.1",
    port: int = 8017,
    public_url: str | None = None,
    trusted_proxy: str | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish requests in progress.

    ``trusted_proxy`` is the address of the proxy whose ``X-Forwarded-For`` is trusted.
    """
    log_to_stderr()
    hub = hub_of(served)
    config = uvicorn.Config(
        create_app(hub, public_url=public_url),
        host=host,
        port=port,
        http=Connection,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=trusted_proxy is not None,
        forwarded_allow_ips=trusted_proxy,
        timeout_graceful_shutdown=MOST_SECONDS,
        lifespan="off",
    )
    log.info("started", extra={"fields": {"version": __version__, "process": os.getpid()}})
    threading.Thread(target=_count, args=(hub,), daemon=True).start()
    with results_kept_current(hub):
        QuietServer(config).run()
    hub.end_previews()
    log.info("stopped")
