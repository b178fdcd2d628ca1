"""Command line, started as `python -m assayer` or by the installed command `assayer`."""

from cluster.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
