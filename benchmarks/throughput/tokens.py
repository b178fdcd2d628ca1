"""`python -m benchmarks.throughput.tokens`: calls and tokens per idea, by method and model tier.

Evaluates real ideas with one method after the other on the simulator, and prints the contents of
`cluster/typical_usage.toml`. Prompts are real, so prompt tokens are close to a model's count; answers are the
simulator's, so completion tokens are a guess.
"""

import asyncio
import os
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.models import Idea
from assayer.run.no_progress import NoProgress
from benchmarks.measuring import build_parser
from benchmarks.records import DATA
from benchmarks.throughput.__main__ import METHODS
from benchmarks.throughput.ideas import read_scholar_ideas
from cluster.database import open_database
from cluster.engine import open_engine
from cluster.settings_loading import load_settings
from simulator.process import Simulator

_BY_RUN_AND_MODEL = """
    SELECT run_id, model, count(*) AS calls, sum(prompt_tokens)::bigint AS prompt,
           sum(completion_tokens)::bigint AS completion
    FROM ledger GROUP BY run_id, model
"""


class Usage(NamedTuple):
    calls: int
    prompt_tokens: int
    completion_tokens: int


def main() -> None:
    parser = build_parser("throughput.tokens", __doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory made by `assayer corpus build`")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with scholarideas/ (default: %(default)s)")
    parser.add_argument("--only", default="ai_", help="only ideas whose names have this prefix (default: %(default)s)")
    parser.add_argument("--method", choices=METHODS, action="append", help="may be repeated (default: all)")
    options = parser.parse_args()
    ideas = [idea for idea in read_scholar_ideas(options.data) if idea.source.startswith(options.only)]
    for method in options.method or METHODS:
        with (
            tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True) as home,
            Simulator(latency_mean=0.05, models=("main", "fast", "board")) as endpoint,
        ):
            Path(home).chmod(0o711)
            os.environ |= {
                "ASSAYER_HOME": home,
                "ASSAYER_CORPUS__PATH": str(options.corpus),
                "ASSAYER_LLM__BASE_URL": endpoint.base_url,
                "ASSAYER_LLM__MODEL": "main",
                "ASSAYER_LLM__FAST_MODEL": "fast",
                "ASSAYER_INNOEVAL__BOARD__MODELS": '["board"]',
            }
            print(_format_toml(method, asyncio.run(_evaluate(method, ideas))), flush=True)


async def _evaluate(method: str, ideas: list[Idea]) -> dict[str, list[Usage]]:
    """Return the usage of each idea that got a report, by model."""
    settings = load_settings()
    async with open_engine(settings, (method,)) as engine:
        for idea in ideas:
            try:
                await engine.evaluate(idea, method, idea.cutoff, NoProgress())
            except AssayerError as error:
                print(f"# no report: {idea.source}: {error}")
        async with open_database(settings) as database:
            rows = await database.fetch(_BY_RUN_AND_MODEL)
    usage_by_model: dict[str, list[Usage]] = defaultdict(list)
    for row in rows:
        usage_by_model[row["model"]].append(Usage(row["calls"], row["prompt"], row["completion"]))
    return usage_by_model


def _format_toml(method: str, usage_by_model: dict[str, list[Usage]]) -> str:
    lines = []
    for model, runs in sorted(usage_by_model.items(), reverse=True):
        calls, prompts, completions = ([round(number) for number in column] for column in zip(*runs, strict=True))
        lines += [
            f"[{method}.{model}]  # {len(runs)} ideas",
            f"calls = {round(statistics.fmean(calls))}",
            f"prompt_tokens = {round(statistics.fmean(prompts)):_}",
            f"completion_tokens = {round(statistics.fmean(completions)):_}",
            f"high_prompt_tokens = {round(statistics.quantiles(prompts, n=10, method='inclusive')[-1]):_}",
            f"high_completion_tokens = {round(statistics.quantiles(completions, n=10, method='inclusive')[-1]):_}",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
