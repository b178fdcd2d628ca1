"""`make bench`: the headline figures of this checkout against those of the commit in `docs/evidence/baseline.txt`.

Each figure is the CPU time of a command, measured in pairs: the baseline and this checkout in turn, on one machine, so
that other work slows both. The table gives the medians, the median ratio of the pairs with its smallest and largest
value, and the load. The exit code is 1 if a median ratio is above 1.1 or a command fails in this checkout. A figure
whose command fails in the baseline has no ratio.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import build_parser, format_heading

_ROOT = Path(__file__).resolve().parents[1]
_BASELINE = _ROOT / "docs" / "evidence" / "baseline.txt"
_IDEA = "examples/ideas/quote-then-abstain.md"
_MAX_RATIO = 1.1
_SIMULATED = """
import asyncio, os, sys
from pathlib import Path
from assayer.ideas.parsing import parse_idea
from assayer.run.no_progress import NoProgress
from cluster.engine import open_engine
from cluster.settings_loading import load_settings
from simulator.process import Simulator

async def evaluate(method, ideas):
    async with open_engine(load_settings(), (method,)) as engine:
        await asyncio.gather(*(engine.evaluate(idea, method, None, NoProgress()) for idea in ideas))

with Simulator(latency_mean=0.05) as endpoint:
    os.environ |= {"ASSAYER_LLM__BASE_URL": endpoint.base_url, "ASSAYER_LLM__MODEL": "simulated"}
    text = Path(sys.argv[2]).read_text("utf-8")
    ideas = [parse_idea(f"{text}\\n\\nThis is variant {n} of the plan.", f"variant {n}") for n in range(4)]
    asyncio.run(evaluate(sys.argv[1], ideas))
"""
_PROGRAM = "from cluster.cli.main import main; main()"


class Figure(NamedTuple):
    name: str
    code: str
    arguments: tuple[str, ...]
    has_empty_home: bool = True
    """True if the command begins with an empty data directory, without answers of earlier runs."""
    builds_corpus: bool = False
    """True if the command builds the corpus, which the others search."""


_CORPUS = Figure("index of 84 papers", _PROGRAM, ("corpus", "build", "examples/corpus.jsonl"), builds_corpus=True)
_FIGURES = (
    Figure("assayer --help", _PROGRAM, ("--help",), has_empty_home=False),
    _CORPUS,
    Figure("report without a model", _PROGRAM, ("evaluate", _IDEA, "--out", "{home}/out"), has_empty_home=False),
    Figure("4 reviews, simulated model", _SIMULATED, ("review", _IDEA)),
    Figure("4 ScholarEval, simulated model", _SIMULATED, ("scholareval", _IDEA)),
)


class Tree(NamedTuple):
    """Checkout that is measured, with a data directory of its own."""

    root: Path
    home: Path

    def measure_cpu_seconds(self, figure: Figure) -> float | None:
        """Return the CPU time of the command and its processes; None if it failed."""
        home = self.home / "fresh" if figure.has_empty_home else self.home
        if figure.has_empty_home:
            shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711)  # as root the database runs as a user who may not list it
        paths = (self.root, self.root / "client")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAYER_")},
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONPYCACHEPREFIX": str(self.home / "pycache"),
            "PYTHONDONTWRITEBYTECODE": "",
            "ASSAYER_HOME": str(home),
            "ASSAYER_CORPUS__PATH": str((home if figure.builds_corpus else self.home) / "corpus"),
        }
        arguments = [argument.format(home=home) for argument in figure.arguments]
        command = [sys.executable, "-c", figure.code, *arguments]
        seconds_before = _read_child_seconds()
        process = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{self.root}: {figure.name} failed: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        return _read_child_seconds() - seconds_before


def _read_child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = build_parser("paired", __doc__)
    parser.add_argument("--pairs", type=int, default=3, help="pairs of each figure (default: %(default)s)")
    parser.add_argument("--only", default="", help="only figures whose names contain this")
    parser.add_argument("--folder", type=Path, default=_ROOT / "build" / "bench", help="for checkouts and corpora")
    options = parser.parse_args()
    commit = _BASELINE.read_text("utf-8").split()[0]
    print(f"{format_heading()}\nagainst {commit}\n")
    trees = (
        Tree(_checkout(commit, options.folder), options.folder / "home-baseline"),
        Tree(_ROOT, options.folder / "home"),
    )
    for tree in trees:
        shutil.rmtree(tree.home, ignore_errors=True)  # another commit's data may have another format
        if tree.measure_cpu_seconds(_CORPUS._replace(has_empty_home=False)) is None:
            sys.exit(f"{tree.root} cannot build the corpus that the figures need.")
    problems = list(compare(trees, [figure for figure in _FIGURES if options.only in figure.name], options.pairs))
    if problems:
        sys.exit(f"{'; '.join(problems)}.")


def compare(trees: Sequence[Tree], figures: Sequence[Figure], pairs: int) -> Iterator[str]:
    """Print one line per figure for the baseline and this checkout, in this order, and yield what makes the comparison
    fail."""
    print("| figure, CPU seconds | baseline | now | ratio (smallest, largest) | load |\n|---|---:|---:|---:|---:|")
    for figure in figures:
        for tree in trees:
            tree.measure_cpu_seconds(figure)  # compiles, and fills the caches of the machine
        seconds_by_pair = [[tree.measure_cpu_seconds(figure) for tree in trees] for _ in range(pairs)]
        complete_pairs = [(old, new) for old, new in seconds_by_pair if old and new]
        cells = "failed | | "
        if any(new is None for _, new in seconds_by_pair):
            yield f"{figure.name}: failed in this checkout"
        elif not complete_pairs:
            cells = f"| {statistics.median(new for _, new in seconds_by_pair if new):.2f} | no baseline"
        else:
            ratios = [new / old for old, new in complete_pairs]
            old, new = (statistics.median(pair[side] for pair in complete_pairs) for side in (0, 1))
            ratio = statistics.median(ratios)
            cells = f"{old:.2f} | {new:.2f} | {ratio:.2f} ({min(ratios):.2f}, {max(ratios):.2f})"
            if ratio > _MAX_RATIO:
                yield f"{figure.name}: {ratio:.2f} times the baseline"
        print(f"| {figure.name} | {cells} | {os.getloadavg()[0]:.1f} |", flush=True)


def _checkout(commit: str, folder: Path) -> Path:
    """Return a checkout of the commit, made with `git archive`, so that the repository stays as it is."""
    root = folder.resolve() / commit
    if not root.exists():
        unfinished = root.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", str(_ROOT), "archive", commit], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", str(unfinished)], input=archive, check=True)
        unfinished.rename(root)
    return root


if __name__ == "__main__":
    main()
