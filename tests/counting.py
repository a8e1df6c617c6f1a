"""Count the covered lines of a few rooms, and trace nothing else.

Tracing makes a test half as slow again, so that only the rooms' own quick tests are traced, and
the imports of the rooms themselves: neither collecting nor what other tests need is.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

ROOMS = ("stats", "tables")
"""The rooms whose lines are counted."""


class CountedLines:
    """A plugin that pauses pytest-cov wherever lines do not count."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @contextmanager
    def _paused(self) -> Iterator[None]:
        plugin: Any = self._config.pluginmanager.getplugin("_cov")
        controller = None if plugin is None else plugin.cov_controller
        if controller is None or not controller.started:
            yield
            return
        controller.pause()
        try:
            yield
        finally:
            controller.resume()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        if self._config.pluginmanager.hasplugin("_cov"):
            for room in ROOMS:
                package = import_module(f"assay.{room}")
                for module in pkgutil.iter_modules(package.__path__):
                    import_module(f"assay.{room}.{module.name}")
        with self._paused():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if item.path.parent.name in ROOMS and not item.get_closest_marker("slow"):
            return (yield)
        with self._paused():
            return (yield)
