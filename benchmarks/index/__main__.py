"""`python -m benchmarks.index NAME [OPTIONS]`: run a benchmark, a module of this folder with a `main`."""

import importlib
import sys
from typing import Final

_BENCHMARKS: Final = ("embedding", "quality", "speed", "updating")


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in _BENCHMARKS:
        sys.exit(f"usage: python -m benchmarks.index {{{','.join(_BENCHMARKS)}}} [--help]")
    importlib.import_module(f"benchmarks.index.{sys.argv.pop(1)}").main()


if __name__ == "__main__":
    main()
