"""``python -m assay`` is the ``assay`` command."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C is quiet also while it is still loading."""
    try:
        from assay.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
