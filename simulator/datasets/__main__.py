"""`python -m simulator.datasets`: serves until it is told to stop by SIGINT or SIGTERM."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from simulator.datasets.server import FAULTS, DatasetServices
from simulator.outside.library import Library
from simulator.outside.records import read_records
from simulator.outside.sample import SAMPLE
from simulator.serving import add_address, serve

_PORT = 8397


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="simulator.datasets", description="Simulates the services that hand out data sets, on loopback."
    )
    add_address(parser, _PORT)
    parser.add_argument("--papers", type=Path, help="JSONL file (.gz too) of papers; a built-in sample when not given")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=[], help="what goes wrong, each once")
    given = parser.parse_args(arguments)
    try:
        records = read_records(given.papers) if given.papers else SAMPLE
    except (OSError, ValueError) as error:
        parser.error(f"{given.papers} cannot be used: {error}")
    services = DatasetServices(Library(records), given.faults)
    asyncio.run(serve(services.application(), given.host, given.port, "", given.until_stdin_closes))


if __name__ == "__main__":
    main()
