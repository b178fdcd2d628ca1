"""The simulator in a child process, for tests and benchmarks."""

import json
from typing import Any

from simulator.child import ServerProcess
from simulator.counters import Stats
from simulator.settings import Settings


class Simulator(ServerProcess):
    """Simulator with the given fields of Settings that runs within a `with` block.

    By default, it answers after 2 s on average; tests should set `latency_mean=0`. Its `base_url` ends in /v1, as
    OpenAI clients expect. Entering the context raises RuntimeError if it does not start, and ValueError for invalid
    settings.
    """

    def __init__(self, port: int = 0, **knobs: Any) -> None:
        super().__init__("simulator", port)
        self._knobs = knobs

    def prepare(self) -> None:
        self.configure(**self._knobs)

    def read_stats(self) -> Stats:
        return Stats.model_validate_json(self.send_request("GET", "/_simulator/stats"))

    def reset(self) -> Stats:
        """Reset the counters and return their previous values."""
        return Stats.model_validate_json(self.send_request("POST", "/_simulator/reset"))

    def read_settings(self) -> Settings:
        return Settings.model_validate_json(self.send_request("GET", "/_simulator/settings"))

    def configure(self, **knobs: Any) -> Settings:
        """Change the named fields of Settings. Raises ValueError if they are invalid."""
        return Settings.model_validate_json(self.send_request("PUT", "/_simulator/settings", json.dumps(knobs)))
