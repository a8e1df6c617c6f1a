"""Where real data lies, and environments of their own for peers that Assay does not need."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

from benchmarks.claims import skipped

__all__ = ["DATA", "peer_python"]

DATA = Path(os.environ.get("ASSAY_DATA", "../shared/data"))
"""The folder of real data; scripts take another one as their first argument."""

FOLDER = Path(".bench")
MINUTES = 3


def peer_python(name: str, *packages: str) -> Path | None:
    """The Python of an environment with these packages, made when first asked for.

    What else they need (numpy, scipy) is taken from the environment that runs the benchmark: the
    same versions on both sides, and nothing large is installed twice. None, and a loud line, where
    it cannot be made.
    """
    home = FOLDER / name
    python = home / "bin" / "python"
    stamp = home / "installed.txt"
    wanted = " ".join(packages)
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return python
    print(f"installing {wanted} into {home}", flush=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    try:
        venv.create(home, with_pip=True, clear=True)
        subprocess.run(
            [*pip, *packages], check=True, capture_output=True, text=True, timeout=60 * MINUTES
        )
        own = subprocess.run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
    except subprocess.TimeoutExpired:
        skipped(f"{wanted} could not be installed within {MINUTES} minutes")
        return None
    except (OSError, subprocess.CalledProcessError) as error:
        text = (getattr(error, "stderr", None) or str(error)).strip()
        skipped(f"{wanted} could not be installed: {text.splitlines()[-1]}")
        return None
    (Path(own) / "beside.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", "utf-8")
    stamp.write_text(wanted, "utf-8")
    return python
