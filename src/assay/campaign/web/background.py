"""A campaign served in a background thread, for rehearsals and tests."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from assay.campaign.campaign import Campaign
from assay.campaign.hub import Hub
from assay.campaign.web.app import create_app
from assay.campaign.web.connections import Connection

STOP_SECONDS = 10


@contextmanager
def serving(served: Campaign | Hub) -> Iterator[str]:
    """Serve on a free local port until the block ends; yields the address."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        app = create_app(served)
        config = uvicorn.Config(
            app, http=Connection, log_level="error", lifespan="off", access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([own],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{own.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STOP_SECONDS)
            app.state.hub.end_previews()
