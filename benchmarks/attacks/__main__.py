"""`python -m benchmarks.attacks NAME`: hostile inputs of one kind against the program, and what it did with them.

`service` attacks a running one, `batch` one that it starts.
"""

import sys
from importlib import import_module

KINDS = ("batch", "citations", "numbers", "paired", "quotes", "service")
"""Each is a module of this folder, with a `main` that takes the rest of the command line."""


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"Say which: {', '.join(KINDS)}.")
    import_module(f"benchmarks.attacks.{sys.argv[1]}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
