"""Runs the outside world as a process of its own, for tests and benchmarks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.child import ServerProcess
from simulator.outside.counters import Stats


class OutsideWorld(ServerProcess):
    """All simulated services, running from `with` to its end.

    `papers` is a JSONL file (.gz too) of what they know, the built-in sample when not given; `limits=False` takes
    every service's limits away; `knobs` maps names of services to fields of their Knobs. Entering raises RuntimeError
    when it does not start, ValueError for unusable knobs. Read the same file with `Library` to know what it knows.
    """

    def __init__(
        self,
        papers: Path | None = None,
        *,
        limits: bool = True,
        knobs: Mapping[str, Mapping[str, Any]] | None = None,
        port: int = 0,
    ) -> None:
        flags = [*(["--papers", str(papers.absolute())] if papers else []), *([] if limits else ["--no-limits"])]
        super().__init__("simulator.outside", port, flags)
        self._knobs = knobs or {}

    def prepare(self) -> None:
        for service, knobs in self._knobs.items():
            self.configure(service, **knobs)

    def url(self, path: str) -> str:
        """Absolute, of a path that begins with a twin's prefix: `url("s2")` is Semantic Scholar's base URL."""
        return f"{self.base_url}/{path}"

    def stats(self, service: str) -> Stats:
        return Stats.model_validate_json(self.ask("GET", f"/_outside/stats/{service}"))

    def reset(self) -> None:
        """Counters, budgets and draws of all services begin anew; knobs stay."""
        self.ask("POST", "/_outside/reset")

    def knobs(self, service: str) -> dict[str, Any]:
        knobs: dict[str, Any] = json.loads(self.ask("GET", f"/_outside/knobs/{service}"))
        return knobs

    def configure(self, service: str, **knobs: Any) -> dict[str, Any]:
        """Changes the named knobs; returns all. Raises ValueError when they cannot be used."""
        changed: dict[str, Any] = json.loads(self.ask("PUT", f"/_outside/knobs/{service}", json.dumps(knobs)))
        return changed
