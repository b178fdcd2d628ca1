"""Run the installed program as users do: as a process with an environment and files.

`Program.start` and `Program.run` fork it from a server where that makes no difference; `Program.run_for_real` does not.
"""

import asyncio
import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

from cluster.postgres import EmbeddedPostgres, postmaster
from simulator.outside.process import OutsideWorld
from simulator.process import Simulator
from simulator.settings import Settings
from tests.constants import CONSTANT_VARIABLES, START
from tests.fork_server import PROGRAM, Ended, Piped, can_fork, run_forked
from tests.polling import LONGEST_SECONDS, wait_until

__all__ = [
    "CORPUS",
    "IDEAS",
    "ROOT",
    "Ended",
    "Homes",
    "Program",
    "Report",
    "build_full_text_settings",
    "build_source_settings",
    "find_violations",
    "read_comparable_reports",
    "read_reports",
    "run_process",
    "run_simulator",
]

Report = dict[str, Any]

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "examples" / "corpus.jsonl"
IDEAS = ROOT / "examples" / "ideas"
_EMBEDDED_TOKENS = 32
"""Embedding whole abstracts takes most of the processor time of an evaluation."""
_NUMBERS = count()


def run_process(words: Iterable[object], **options: Any) -> Ended:
    """Run a command to its end, without input."""
    result = subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
        **options,
    )
    return Ended(result.returncode, result.stdout, result.stderr)


@dataclass(frozen=True)
class Program:
    """`home` exists, holds the data directory and the default output, and is the working directory."""

    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables added to the machine's own."""

    def with_settings(self, **settings: object) -> "Program":
        """Return a copy with more settings; `LLM__MODEL` sets ASSAYER_LLM__MODEL."""
        prefixed_settings = {f"ASSAYER_{name}": str(value) for name, value in settings.items()}
        return replace(self, settings={**self.settings, **prefixed_settings})

    def with_simulator(self, simulated: Simulator) -> "Program":
        # What it says of claims, and which seats abstain, is drawn by lot: whether a minimum is met would be a toss-up.
        chance = {"RELEASE__CLAIMS_SUPPORTED": 0, "RELEASE__JUDGED": 0}
        # Its port is another one every time; the same model stands behind it.
        endpoint = {"LLM__BASE_URL": simulated.base_url, "LLM__ENDPOINT_NAME": "simulated"}
        return self.with_settings(LLM__MODEL="simulated", LLM__API_KEY="sk-test", **endpoint, **chance)

    def without_extras(self) -> "Program":
        """Return a copy installed as by `make evaluate`: extras other than `local` cannot be imported."""
        paths = [str(Path(__file__).parent / "default_install"), *filter(None, [os.environ.get("PYTHONPATH")])]
        return replace(self, settings={**self.settings, "PYTHONPATH": os.pathsep.join(paths)})

    def start(self, *arguments: object) -> Piped:
        return Piped(arguments, self.home, self._build_environment())

    def run(self, *arguments: object) -> Ended:
        """Run a command to its end, forked where a real start would behave the same."""
        if can_fork(self.settings):
            return run_forked(arguments, self.home, self._build_environment(), LONGEST_SECONDS)
        return self.run_for_real(*arguments)

    def run_for_real(self, *arguments: object) -> Ended:
        return run_process([*self._build_start_command(), *arguments], cwd=self.home, env=self._build_environment())

    def _build_start_command(self) -> list[str]:
        """Return the program or, if variables shorten constants, a start of it that accepts them."""
        if {*self.settings} & CONSTANT_VARIABLES:
            return [sys.executable, "-c", START.format(root=str(ROOT))]
        return [str(PROGRAM)]

    def _build_environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
        return {**inherited, "ASSAYER_HOME": str(self.home), **self.settings}

    def fetch_rows(self, query: str) -> list[asyncpg.Record]:
        """Return the rows that a query yields in its database."""
        return asyncio.run(self._fetch_rows_async(query))

    async def _fetch_rows_async(self, query: str) -> list[asyncpg.Record]:
        async with EmbeddedPostgres(self.home / "postgres") as server:
            connection = await asyncpg.connect(await server.ensure())
            try:
                return list(await connection.fetch(query))
            finally:
                await connection.close()

    @property
    def out(self) -> Path:
        """Default folder of reports."""
        return self.home / "out"

    @property
    def server(self) -> int | None:
        """Process id of its database server."""
        postmaster_found = postmaster.find(self.home / "postgres" / "pgdata")
        return postmaster_found.pid if postmaster_found else None

    def stop_server(self) -> None:
        """Ends what a killed program left running."""
        if (pid := self.server) is not None:
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: self.server is None)


@cache
def _start_simulator() -> Simulator:
    """Start the simulated language model of this worker. It ends with the worker."""
    process = Simulator()
    atexit.register(process.stop)
    return process.__enter__()


@contextmanager
def run_simulator(**knobs: Any) -> Iterator[Simulator]:
    """Yield the simulated language model with the given fields of Settings and without a history."""
    process = _start_simulator()
    wait_until(lambda: process.read_stats().in_flight == 0)
    process.configure(**{**Settings().model_dump(), **knobs})
    process.reset()
    yield process


def build_full_text_settings(world: OutsideWorld) -> dict[str, str]:
    """Settings under which full texts are fetched, from the simulated hosts and no other."""
    hosts = ("ARXIV", "ACL", "PMC", "OPENREVIEW")
    return {
        "FULL_TEXTS__FETCH": "true",
        "FETCHING__ALLOW": "127.0.0.0/8",
        **{f"FULL_TEXTS__HOSTS__{host}": world.url(f"files/{host.lower()}") for host in hosts},
    }


def build_source_settings(world: OutsideWorld) -> dict[str, str]:
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
    services_with_keys, services_with_emails = (
        ("S2", "OPENALEX", "WEB", "GOOGLE_SCHOLAR", "GITHUB", "KAGGLE"),
        ("OPENALEX", "CROSSREF", "UNPAYWALL"),
    )
    return {
        **{f"{name}__BASE_URL": world.url(path) for name, path in paths.items()},
        **{f"{name}__API_KEY": "key-of-a-test" for name in services_with_keys},
        **{f"{name}__EMAIL": "reader@lab.example.org" for name in services_with_emails},
    }


@dataclass(frozen=True)
class Homes:
    """Data directories side by side, with one corpus for all of them."""

    folder: Path
    corpus: Path
    database: Path
    """Database without rows, not running; a copy takes a tenth of the time of making one."""

    def create_bare_home(self, name: str) -> Program:
        """Return a program without a database and a corpus.

        The place is new every time, because a fixture may be created again."""
        home = self.folder / f"{name}-{next(_NUMBERS)}"
        home.mkdir()
        return Program(home)

    def create_home(self, name: str) -> Program:
        """Return a program with the corpus and an empty database."""
        program = self.create_bare_home(name)
        subprocess.run(["cp", "--archive", self.database, program.home / "postgres"], check=True)
        return program.with_settings(CORPUS__PATH=self.corpus, EMBEDDER__MAX_TOKENS=_EMBEDDED_TOKENS)

    def stop_servers(self) -> None:
        for home in self.folder.iterdir():
            Program(home).stop_server()


def read_reports(folder: Path) -> dict[str, Report]:
    """Return the reports in a folder, by the name of the idea's file."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))}


def read_comparable_reports(folder: Path) -> dict[str, Report]:
    """All that two runs of the same must share."""
    return {
        name: {key: value for key, value in report.items() if key != "usage"}
        for name, report in read_reports(folder).items()
    }


def find_violations(folder: Path, expected: int) -> str:
    """Return the violations the independent checker reports for a folder of reports made from the example corpus."""
    checker = ROOT / "benchmarks" / "quality" / "check_reports.py"
    command = [sys.executable, str(checker), str(folder), "--corpus", str(CORPUS), "--expect", str(expected)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS)
    return result.stdout + result.stderr if result.returncode else ""
