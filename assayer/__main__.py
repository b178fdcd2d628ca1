"""Entry point for the command line: `python -m assayer` and the installed `assayer` command."""

from cluster.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
