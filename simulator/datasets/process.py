"""Runs the services as a process of their own, for tests and benchmarks."""

import json
from collections.abc import Sequence
from pathlib import Path

from simulator.child import ServerProcess
from simulator.datasets.server import Fault


class SimulatedDatasets(ServerProcess):
    """The data sets of a JSONL file of papers, or of the built-in sample, running from `with` to its end."""

    def __init__(self, papers: Path | None = None, faults: Sequence[Fault] = (), port: int = 0) -> None:
        flags = [*(["--papers", str(papers.absolute())] if papers else []), *(["--faults", *faults] if faults else [])]
        super().__init__("simulator.datasets", port, flags)

    def turn(self, edition: int) -> None:
        """To the first or the second edition."""
        self.ask("PUT", f"/_datasets/edition/{edition}")

    def reset(self) -> None:
        """Back to the first edition, without a history: faults come anew."""
        self.ask("POST", "/_datasets/reset")

    def requests(self) -> dict[str, int]:
        """Return the number of requests by path, and under `delivered NAME` how often a file was delivered."""
        told: dict[str, int] = json.loads(self.ask("GET", "/_datasets/requests"))
        return told
