"""Assay: how good translation systems are, and how sure one can be, from few human judgments.

The pipeline, plan -> sample -> collect -> estimate / rank -> report::

    import assay

    test_set = assay.read_scores("scores.tsv")
    sample = assay.sample(test_set, budget="20%", rng=7)
    sample.write("sample.tsv")
    # ... raters score the drawn segments ...
    ratings = assay.read_ratings("ratings.tsv", test_set, better="lower")
    estimates = assay.estimate(test_set, ratings, sample=sample)
    assay.write_report(estimates, "report.html")

    ranking = assay.rank(assay.read_judgments("judgments.tsv"))  # or from pairwise judgments
"""

from functools import cache

from assay._version import __version__ as __version__


@cache
def _homes() -> dict[str, str]:
    """Public name to module, from the stub beside this file: the one place that lists them."""
    import ast
    from importlib.resources import files

    stub = ast.parse(files("assay").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name: str(node.module) for node in imports for name in node.names}


def __getattr__(name: str) -> object:
    # Loaded when first used, so that `import assay` and `assay --help` cost next to nothing.
    from importlib import import_module

    if name == "__all__":
        return sorted(_homes())
    if name.startswith("__") or name not in _homes():
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted(_homes())
