"""Runs the simulator as a process of its own, for tests and benchmarks."""

import json
from typing import Any

from simulator.child import ServerProcess
from simulator.counters import Stats
from simulator.settings import Settings


class Simulator(ServerProcess):
    """A simulator with the given fields of Settings, running from `with` to its end.

    Without knobs it answers after 2 s on average; tests want `latency_mean=0`. Its `base_url` ends in /v1, as an
    OpenAI client wants it. Entering raises RuntimeError when it does not start, ValueError for unusable knobs.
    """

    def __init__(self, port: int = 0, **knobs: Any) -> None:
        super().__init__("simulator", port)
        self._knobs = knobs

    def prepare(self) -> None:
        self.configure(**self._knobs)

    def stats(self) -> Stats:
        return Stats.model_validate_json(self.ask("GET", "/_simulator/stats"))

    def reset(self) -> Stats:
        """Counters back to zero; returns what they were."""
        return Stats.model_validate_json(self.ask("POST", "/_simulator/reset"))

    def settings(self) -> Settings:
        return Settings.model_validate_json(self.ask("GET", "/_simulator/settings"))

    def configure(self, **knobs: Any) -> Settings:
        """Changes the named fields of Settings. Raises ValueError when they cannot be used."""
        return Settings.model_validate_json(self.ask("PUT", "/_simulator/settings", json.dumps(knobs)))
