"""Several processes of the program that evaluate ideas side by side, with one database and one set of sources."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.models import Idea, Report
from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.process import Simulator

__all__ = ["Outcome", "evaluate", "settings"]

_PROGRAM = Path(sys.executable).with_name("assayer")
_LONGEST_SECONDS = 3_600.0
_KEYED = ("S2", "OPENALEX")
_NAMED = ("OPENALEX", "CROSSREF", "UNPAYWALL")
_PATHS = {
    "S2": "s2",
    "ARXIV": "arxiv",
    "OPENALEX": "openalex",
    "CROSSREF": "crossref",
    "UNPAYWALL": "unpaywall/v2",
}
_HOSTS = ("ARXIV", "ACL", "PMC", "OPENREVIEW")


class Outcome(NamedTuple):
    reports: list[Report]
    complaints: list[str]
    """What the processes wrote to their standard error."""
    wall_seconds: float


def settings(world: OutsideWorld, llm: Simulator, corpus: Path) -> dict[str, str]:
    """Environment variables: every source on, at its twin and at its real limits; the model simulated."""
    named = {
        **{f"{name}__BASE_URL": world.url(path) for name, path in _PATHS.items()},
        **{f"{name}__API_KEY": "one-key-for-all" for name in _KEYED},
        **{f"{name}__EMAIL": "reader@lab.example.org" for name in _NAMED},
        **{f"FULL_TEXTS__HOSTS__{host}": world.url(f"files/{host.lower()}") for host in _HOSTS},
        "FULL_TEXTS__FETCH": "true",
        "FETCHING__ALLOW": "127.0.0.0/8",
        "LLM__BASE_URL": llm.base_url,
        "LLM__MODEL": "simulated",
        "LLM__API_KEY": "simulated",
        "CORPUS__PATH": str(corpus.absolute()),
    }
    return {f"ASSAYER_{name}": value for name, value in named.items()}


def evaluate(ideas: Sequence[Idea], processes: int, home: Path, environment: Mapping[str, str]) -> Outcome:
    """Every process takes its share of the ideas; they share `home`, and so the database."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    env = {**own, **environment, "ASSAYER_HOME": str(home)}
    files = [_write(idea, home) for idea in ideas]
    began = time.monotonic()
    started = [_start(number, files[number::processes], home, env) for number in range(processes)]
    said = [process.communicate(timeout=_LONGEST_SECONDS)[1] for process in started]
    wall = time.monotonic() - began
    found = sorted(home.glob("out-*/*.json"))
    return Outcome(
        reports=[Report.model_validate_json(file.read_text("utf-8")) for file in found],
        complaints=[text for text in said if text],
        wall_seconds=wall,
    )


def _write(idea: Idea, home: Path) -> Path:
    path = home / f"{idea.source}.json"
    cutoff = idea.cutoff.isoformat() if idea.cutoff else None
    path.write_text(json.dumps({"title": idea.title, "text": idea.text, "cutoff": cutoff}), "utf-8")
    return path


def _start(number: int, files: Sequence[Path], home: Path, env: Mapping[str, str]) -> "subprocess.Popen[str]":
    command = [_PROGRAM, "evaluate", *files, "--format", "json", "--out", home / f"out-{number}"]
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=home,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
