"""Run hostile inputs of one kind against the program and report the results.

Usage: `python -m benchmarks.hostile.attacks NAME`; `service` attacks a running service.
"""

import sys
from importlib import import_module

KINDS = ("citations", "paired", "quotes", "service")
"""Kinds of attacks, each a module of this folder whose `main` takes the rest of the command line."""


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"Name a kind of attack: {', '.join(KINDS)}.")
    import_module(f"benchmarks.hostile.attacks.{sys.argv[1]}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
