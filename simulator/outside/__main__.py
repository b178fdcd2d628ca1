"""Command `python -m simulator.outside`: serves until SIGINT or SIGTERM."""

import argparse
import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path

from simulator.outside.library import Library
from simulator.outside.records import read_records
from simulator.outside.sample import SAMPLE
from simulator.outside.server import World
from simulator.serving import add_address_options, serve

_PORT = 8398


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simulator.outside", description="Simulates the external services that assayer uses, on loopback."
    )
    add_address_options(parser, _PORT)
    parser.add_argument("--papers", type=Path, help="JSONL file of papers, optionally .gz (default: a built-in sample)")
    parser.add_argument("--no-limits", action="store_true", help="start without the services' rate limits")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _build_parser()
    options = parser.parse_args(arguments)
    try:
        records = read_records(options.papers) if options.papers else SAMPLE
    except (OSError, ValueError) as error:
        parser.error(f"{options.papers} cannot be used: {error}")
    world = World(Library(records), with_limits=not options.no_limits)
    # Excludes hundreds of thousands of permanent objects from garbage collection, which would delay arrival times.
    gc.freeze()
    asyncio.run(serve(world.build_application(), options.host, options.port, "", options.until_stdin_closes))


if __name__ == "__main__":
    main()
