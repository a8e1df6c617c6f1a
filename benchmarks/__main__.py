"""Run every benchmark, one after the other."""

from __future__ import annotations

import importlib
import pkgutil

import benchmarks

for module in sorted(item.name for item in pkgutil.iter_modules(benchmarks.__path__)):
    if module in ("__main__", "measure"):
        continue
    print(f"\n== {module} ==", flush=True)
    importlib.import_module(f"benchmarks.{module}").main()
