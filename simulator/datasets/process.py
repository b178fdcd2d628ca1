"""The simulated data set services in a child process, for tests and benchmarks."""

import json
from collections.abc import Sequence
from pathlib import Path

from simulator.child import ServerProcess
from simulator.datasets.server import Fault


class SimulatedDatasets(ServerProcess):
    """Server of the data sets of a JSONL file of papers, or of the built-in sample, that runs within a `with` block."""

    def __init__(self, papers: Path | None = None, faults: Sequence[Fault] = (), port: int = 0) -> None:
        flags = [*(["--papers", str(papers.absolute())] if papers else []), *(["--faults", *faults] if faults else [])]
        super().__init__("simulator.datasets", port, flags)

    def change_edition(self, edition: int) -> None:
        """Switch to edition 1 or 2."""
        self.send_request("PUT", f"/_datasets/edition/{edition}")

    def reset(self) -> None:
        """Return to the first edition and clear the history, so that faults occur again."""
        self.send_request("POST", "/_datasets/reset")

    def count_requests(self) -> dict[str, int]:
        """Return the number of requests by path, and under `delivered NAME` how often a file was delivered."""
        counts: dict[str, int] = json.loads(self.send_request("GET", "/_datasets/requests"))
        return counts
