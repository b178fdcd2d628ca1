"""The commands over the service, as processes."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PROGRAM", "SECONDS", "Ended", "Program"]

PROGRAM = Path(sys.executable).with_name("assayer")
SECONDS = 90.0


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Program:
    url: str
    key: str
    home: Path

    async def run(self, *arguments: object, **settings: str) -> Ended:
        process = await self.start(*arguments, **settings)
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate()
        return Ended(process.returncode or 0, out.decode(), err.decode())

    async def start(self, *arguments: object, **settings: str) -> asyncio.subprocess.Process:
        own = {name: value for name, value in os.environ.items() if not name.startswith("ASSAYER_")}
        given = {"ASSAYER_HOME": str(self.home), "ASSAYER_API_URL": self.url, "ASSAYER_API_KEY": self.key}
        return await asyncio.create_subprocess_exec(
            str(PROGRAM),
            *map(str, arguments),
            cwd=self.home,
            env=own | given | settings,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
