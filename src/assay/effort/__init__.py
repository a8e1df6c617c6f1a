"""What an edit costs, and systems compared by it.

The room and its public function have one name: ``assay.effort`` is this package, and calling it
calls :func:`assay.effort.effort.effort`.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    @property
    def __call__(self) -> Callable[..., Any]:
        function: Callable[..., Any] = import_module("assay.effort.effort").effort
        return function


sys.modules[__name__].__class__ = _Room
