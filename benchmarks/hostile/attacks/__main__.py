"""Runs hostile inputs of one kind against the program and reports what it did with them.

`python -m benchmarks.hostile.attacks NAME`: `service` attacks a running service.
"""

import sys
from importlib import import_module

KINDS = ("citations", "paired", "quotes", "service")
"""Each is a module of this folder, with a `main` that takes the rest of the command line."""


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"Say which: {', '.join(KINDS)}.")
    import_module(f"benchmarks.hostile.attacks.{sys.argv[1]}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
