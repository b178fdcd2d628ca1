"""The simulated external services in a child process, for tests and benchmarks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.child import ServerProcess
from simulator.outside.counters import Stats


class OutsideWorld(ServerProcess):
    """Server of all simulated external services that runs within a `with` block.

    `papers` is a JSONL file of papers (optionally .gz), by default the built-in sample; `with_limits=False` removes all
    rate limits; `knobs` maps service names to fields of their Knobs. Entering the context raises RuntimeError if the
    server does not start, and ValueError for invalid knobs. `Library` on the same file has the same papers.
    """

    def __init__(
        self,
        papers: Path | None = None,
        *,
        with_limits: bool = True,
        knobs: Mapping[str, Mapping[str, Any]] | None = None,
        port: int = 0,
    ) -> None:
        flags = [*(["--papers", str(papers.absolute())] if papers else []), *([] if with_limits else ["--no-limits"])]
        super().__init__("simulator.outside", port, flags)
        self._knobs = knobs or {}

    def prepare(self) -> None:
        for service, knobs in self._knobs.items():
            self.configure(service, **knobs)

    def url(self, path: str) -> str:
        """Return the absolute URL of a path that begins with a service's prefix: `url("s2")` is Semantic Scholar's base
        URL."""
        return f"{self.base_url}/{path}"

    def read_stats(self, service: str) -> Stats:
        return Stats.model_validate_json(self.send_request("GET", f"/_outside/stats/{service}"))

    def reset(self) -> None:
        """Reset the counters, budgets and random choices of all services, but not the knobs."""
        self.send_request("POST", "/_outside/reset")

    def read_knobs(self, service: str) -> dict[str, Any]:
        knobs: dict[str, Any] = json.loads(self.send_request("GET", f"/_outside/knobs/{service}"))
        return knobs

    def configure(self, service: str, **knobs: Any) -> dict[str, Any]:
        """Change the named knobs and return all. Raises ValueError if they are invalid."""
        changed_knobs: dict[str, Any] = json.loads(
            self.send_request("PUT", f"/_outside/knobs/{service}", json.dumps(knobs))
        )
        return changed_knobs
