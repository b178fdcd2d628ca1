"""The commands over the service, as processes."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from tests.fork_server import PROGRAM, Ended, run_forked

__all__ = ["PROGRAM", "SECONDS", "Ended", "Program"]

SECONDS = 90.0


@dataclass(frozen=True)
class Program:
    url: str
    key: str
    home: Path

    async def run(self, *arguments: object, **settings: str) -> Ended:
        """Run a command to its end, forked from a process that has imported the program."""
        return await asyncio.to_thread(run_forked, arguments, self.home, self._build_environment(settings), SECONDS)

    async def start(self, *arguments: object, **settings: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            str(PROGRAM),
            *map(str, arguments),
            cwd=self.home,
            env=self._build_environment(settings),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    def _build_environment(self, settings: dict[str, str]) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ASSAYER_")}
        service = {"ASSAYER_HOME": str(self.home), "ASSAYER_API_URL": self.url, "ASSAYER_API_KEY": self.key}
        return inherited | service | settings
