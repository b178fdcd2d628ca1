"""The installed program as its users run it: a process with an environment, files, and nothing of ours in memory."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.process import Simulator
from cluster.postgres import EmbeddedPostgres, postmaster
from tests.polling import LONGEST_SECONDS, wait_until

__all__ = [
    "CORPUS",
    "IDEAS",
    "ROOT",
    "Ended",
    "Homes",
    "Program",
    "Report",
    "addresses",
    "compared",
    "reading",
    "reports",
    "violations",
]

Report = dict[str, Any]

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "examples" / "corpus.jsonl"
IDEAS = ROOT / "examples" / "ideas"
_NUMBERS = count()
_PROGRAM = Path(sys.executable).with_name("assayer")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Program:
    """`home` exists, holds the data directory and the default output, and is the working directory."""

    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables beyond the machine's own."""

    def having(self, **settings: object) -> "Program":
        """With more settings; `LLM__MODEL` is ASSAYER_LLM__MODEL."""
        more = {f"ASSAYER_{name}": str(value) for name, value in settings.items()}
        return replace(self, settings={**self.settings, **more})

    def asking(self, simulated: Simulator) -> "Program":
        # What it says of claims, and which seats abstain, is drawn by lot: whether a minimum is met would be a toss-up.
        chance = {"RELEASE__CLAIMS_SUPPORTED": 0, "RELEASE__JUDGED": 0}
        # Its port is another one every time; the same model stands behind it.
        endpoint = {"LLM__BASE_URL": simulated.base_url, "LLM__ENDPOINT_NAME": "simulated"}
        return self.having(LLM__MODEL="simulated", LLM__API_KEY="sk-test", **endpoint, **chance)

    def without_extras(self) -> "Program":
        """As `make evaluate` installs it: what extras besides `local` bring cannot be imported."""
        return replace(self, settings={**self.settings, "PYTHONPATH": str(Path(__file__).parent / "default_install")})

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
        return subprocess.Popen(
            [str(_PROGRAM), *map(str, arguments)],
            cwd=self.home,
            env={**own, "ASSAYER_HOME": str(self.home), **self.settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> Ended:
        with self.start(*arguments) as process:
            try:
                out, err = process.communicate(timeout=LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Ended(process.returncode, out, err)

    def rows(self, query: str) -> list[asyncpg.Record]:
        """What its database answers."""
        return asyncio.run(self._rows(query))

    async def _rows(self, query: str) -> list[asyncpg.Record]:
        async with EmbeddedPostgres(self.home / "postgres") as server:
            connection = await asyncpg.connect(await server.ensure())
            try:
                return list(await connection.fetch(query))
            finally:
                await connection.close()

    @property
    def out(self) -> Path:
        """Where reports go by default."""
        return self.home / "out"

    @property
    def server(self) -> int | None:
        """Process id of its database server."""
        found = postmaster.find(self.home / "postgres" / "pgdata")
        return found.pid if found else None

    def stop_server(self) -> None:
        """Ends what a killed program left running."""
        if (pid := self.server) is not None:
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: self.server is None)


def reading(world: OutsideWorld) -> dict[str, str]:
    """Settings under which full texts are fetched, from the simulated hosts and no other."""
    hosts = ("ARXIV", "ACL", "PMC", "OPENREVIEW")
    return {
        "FULL_TEXTS__FETCH": "true",
        "FETCHING__ALLOW": "127.0.0.0/8",
        **{f"FULL_TEXTS__HOSTS__{host}": world.url(f"files/{host.lower()}") for host in hosts},
    }


def addresses(world: OutsideWorld) -> dict[str, str]:
    """Settings that turn every remote source on, at its twin."""
    paths = {
        "S2": "s2",
        "ARXIV": "arxiv",
        "OPENALEX": "openalex",
        "CROSSREF": "crossref",
        "UNPAYWALL": "unpaywall/v2",
        "WEB": "serper",
        "GOOGLE_SCHOLAR": "serper",
        "GITHUB": "github",
        "KAGGLE": "kaggle/api/v1",
        "DATACITE": "datacite",
    }
    keyed, named = (
        ("S2", "OPENALEX", "WEB", "GOOGLE_SCHOLAR", "GITHUB", "KAGGLE"),
        ("OPENALEX", "CROSSREF", "UNPAYWALL"),
    )
    return {
        **{f"{name}__BASE_URL": world.url(path) for name, path in paths.items()},
        **{f"{name}__API_KEY": "key-of-a-test" for name in keyed},
        **{f"{name}__EMAIL": "reader@lab.example.org" for name in named},
    }


@dataclass(frozen=True)
class Homes:
    """Data directories side by side, with one corpus for all of them."""

    folder: Path
    corpus: Path

    def fresh(self, name: str) -> Program:
        """With the corpus and an empty database. Another place every time: a fixture may be made once more."""
        home = self.folder / f"{name}-{next(_NUMBERS)}"
        home.mkdir()
        return Program(home).having(CORPUS__PATH=self.corpus)

    def stop_servers(self) -> None:
        for home in self.folder.iterdir():
            Program(home).stop_server()


def reports(folder: Path) -> dict[str, Report]:
    """By the name of the idea's file."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))}


def compared(folder: Path) -> dict[str, Report]:
    """All that two runs of the same must share."""
    return {
        name: {key: value for key, value in report.items() if key != "usage"}
        for name, report in reports(folder).items()
    }


def violations(folder: Path, expected: int) -> str:
    """What the independent checker finds in a folder of reports made from the example corpus."""
    checker = ROOT / "benchmarks" / "quality" / "check_reports.py"
    command = [sys.executable, str(checker), str(folder), "--corpus", str(CORPUS), "--expect", str(expected)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS)
    return ended.stdout + ended.stderr if ended.returncode else ""
