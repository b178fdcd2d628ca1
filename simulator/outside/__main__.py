"""`python -m simulator.outside`: serves until it is told to stop by SIGINT or SIGTERM."""

import argparse
import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path

from simulator.outside.library import Library
from simulator.outside.records import read_records
from simulator.outside.sample import SAMPLE
from simulator.outside.server import World
from simulator.serving import add_address, serve

_PORT = 8398


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simulator.outside", description="Simulates the services that assayer asks, on loopback."
    )
    add_address(parser, _PORT)
    parser.add_argument("--papers", type=Path, help="JSONL file (.gz too) of papers; a built-in sample when not given")
    parser.add_argument("--no-limits", action="store_true", help="start without any service's limits")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        records = read_records(given.papers) if given.papers else SAMPLE
    except (OSError, ValueError) as error:
        parser.error(f"{given.papers} cannot be used: {error}")
    world = World(Library(records), limits=not given.no_limits)
    # Hundreds of thousands of objects that stay: no collection shall walk them while a request waits for its stamp.
    gc.freeze()
    asyncio.run(serve(world.application(), given.host, given.port, "", given.until_stdin_closes))


if __name__ == "__main__":
    main()
