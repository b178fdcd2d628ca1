"""Command `python -m simulator.datasets`: serves until SIGINT or SIGTERM."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from simulator.datasets.server import FAULTS, DatasetServices
from simulator.outside.library import Library
from simulator.outside.records import read_records
from simulator.outside.sample import SAMPLE
from simulator.serving import add_address_options, serve

_PORT = 8397


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="simulator.datasets", description="Simulates services that distribute data sets, on loopback."
    )
    add_address_options(parser, _PORT)
    parser.add_argument("--papers", type=Path, help="JSONL file of papers, optionally .gz (default: a built-in sample)")
    parser.add_argument(
        "--faults", nargs="*", choices=FAULTS, default=[], help="faults to inject, each once per path or file"
    )
    options = parser.parse_args(arguments)
    try:
        records = read_records(options.papers) if options.papers else SAMPLE
    except (OSError, ValueError) as error:
        parser.error(f"{options.papers} cannot be used: {error}")
    services = DatasetServices(Library(records), options.faults)
    asyncio.run(serve(services.build_application(), options.host, options.port, "", options.until_stdin_closes))


if __name__ == "__main__":
    main()
