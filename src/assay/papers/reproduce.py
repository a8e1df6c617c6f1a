"""Reproduce a paper by its name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from assay.engine import Workers
from assay.errors import InputError, OptionError, need_known
from assay.papers.compare import PaperRequest, PaperWork, Reproduction
from assay.stats.random import Rng, seeded

PAPERS = ("koehn2012", "korotaev2022", "lo2023", "saldias2022")


def start_paper(
    paper: str,
    folder: str | Path,
    *,
    draws: int | None = None,
    rng: Rng = 13,
    workers: Workers = 1,
    figures: bool = False,
) -> PaperWork:
    """Read a paper's data and list its work; ``work.finish(work.run())`` then does it.

    ``draws`` is by default that of the paper's module. ``figures`` adds the data of the figures.
    """
    need_known("paper", paper, PAPERS)
    module = import_module(f"assay.papers.{paper}.ours")
    draws = module.DRAWS if draws is None else draws
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < module.FEWEST_DRAWS:
        remedy = f"give {module.FEWEST_DRAWS} or more"
        raise OptionError("draws", draws, "is not a number of draws", remedy)
    if not Path(folder).is_dir():
        raise InputError(f"data ({folder}) is not a folder; give the one with the paper's files")
    generator, seed = seeded(rng)
    request = PaperRequest(Path(folder), draws, seed, generator, workers, figures)
    work: PaperWork = module.list_work(request)
    return work


def reproduce(
    paper: str, folder: str | Path, *, draws: int | None = None, rng: Rng = 13, workers: Workers = 1
) -> Reproduction:
    """Reproduce a paper's printed numbers from the data in a folder.

    A number whose data is not in the folder has the outcome ``no data`` and names the missing file.
    Nothing is claimed that was not computed from the folder.

    >>> import assay, tempfile
    >>> assay.reproduce("koehn2012", tempfile.mkdtemp(), draws=2).counts
    {'equal': 0, 'different': 0, 'cannot tell': 0, 'no data': 199}
    """
    work = start_paper(paper, folder, draws=draws, rng=rng, workers=workers)
    return work.finish(work.run())
