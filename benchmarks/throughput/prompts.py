"""`python -m benchmarks.throughput.prompts`: prompt tokens by task, and the share that a prompt cache can reuse.

Evaluates real ideas with one method, on the simulator or on the endpoint in the environment (`--endpoint`), with all
messages stored, and prints for each task: calls and tokens per idea, the tokens that the endpoint reports from its
cache, and two shares of the characters of the prompts: those that begin an earlier prompt of the same idea, and those
that begin an earlier prompt of any idea. Prompts count in the order in which their answers came. `repeated` is the
share of long lines that an earlier line of the same prompt repeats.
"""

import argparse
import asyncio
import os
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from assayer.errors import AssayerError
from assayer.models import Idea, Message
from assayer.run.no_progress import NoProgress
from benchmarks.measuring import build_parser, format_heading
from benchmarks.records import DATA
from benchmarks.throughput.__main__ import METHODS
from benchmarks.throughput.ideas import read_scholar_ideas
from cluster.database import open_database
from cluster.engine import open_engine
from cluster.settings_loading import load_settings
from simulator.process import Simulator

_MESSAGES = TypeAdapter(tuple[Message, ...])
_LONG_LINE = 60
_CALLS = """
    SELECT ledger.run_id, ledger.task, ledger.prompt_tokens, ledger.cached_prompt_tokens, ledger.completion_tokens,
           answers.messages
    FROM ledger JOIN answers USING (key) WHERE NOT ledger.cached ORDER BY ledger.at, ledger.id
"""


class Prompt(NamedTuple):
    run: str
    task: str
    tokens: int
    cached: int
    answer_tokens: int
    text: str


class Shares(NamedTuple):
    """Characters of one prompt, and how many of them an earlier prompt begins with or the prompt itself repeats."""

    task: str
    characters: int
    same_idea: int
    any_idea: int
    repeated: int


def compute_shares(prompts: Sequence[Prompt]) -> list[Shares]:
    """Return the shares of each prompt, in the same order."""
    all_shares = []
    for number, prompt in enumerate(prompts):
        same_idea = any_idea = 0
        for earlier in prompts[:number]:
            common = _count_common(prompt.text, earlier.text)
            any_idea = max(any_idea, common)
            if earlier.run == prompt.run:
                same_idea = max(same_idea, common)
        all_shares.append(Shares(prompt.task, len(prompt.text), same_idea, any_idea, _count_repeated(prompt.text)))
    return all_shares


def _count_common(text: str, other_text: str) -> int:
    """Return the length of the common beginning."""
    low, high = 0, min(len(text), len(other_text))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other_text[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _count_repeated(text: str) -> int:
    distinct_lines, repeated_chars = set[str](), 0
    for line in text.splitlines():
        if len(line) >= _LONG_LINE:
            repeated_chars += len(line) if line in distinct_lines else 0
            distinct_lines.add(line)
    return repeated_chars


def main() -> None:
    parser = build_parser("throughput.prompts", __doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory made by `assayer corpus build`")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with scholarideas/ (default: %(default)s)")
    parser.add_argument("--only", default="ai_", help="only ideas whose names have this prefix (default: %(default)s)")
    parser.add_argument("--ideas", type=int, help="largest number of ideas (default: all)")
    parser.add_argument("--method", choices=METHODS, default="review")
    parser.add_argument("--at-once", type=int, default=1, help="ideas evaluated at the same time")
    parser.add_argument("--endpoint", action="store_true", help="use ASSAYER_LLM__… instead of the simulator")
    options = parser.parse_args()
    print(format_heading())
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True))
        Path(home).chmod(0o711)
        os.environ |= {"ASSAYER_HOME": home, "ASSAYER_CORPUS__PATH": str(options.corpus)}
        if not options.endpoint:
            endpoint = stack.enter_context(Simulator(latency_mean=0.05))
            os.environ |= {"ASSAYER_LLM__BASE_URL": endpoint.base_url, "ASSAYER_LLM__MODEL": "simulated"}
        ideas = [idea for idea in read_scholar_ideas(options.data) if idea.source.startswith(options.only)]
        prompts = asyncio.run(_evaluate(options, ideas[: options.ideas]))
    print("\n".join(_format_table(options.method, prompts)))


async def _evaluate(options: argparse.Namespace, ideas: Sequence[Idea]) -> list[Prompt]:
    """Evaluate the ideas, and return the prompts of all answered calls in order of time."""
    settings = load_settings()
    semaphore = asyncio.Semaphore(options.at_once)
    async with open_engine(settings, (options.method,)) as engine:

        async def evaluate(idea: Idea) -> None:
            async with semaphore:
                try:
                    await engine.evaluate(idea, options.method, idea.cutoff, NoProgress())
                except AssayerError as error:
                    print(f"no report: {idea.source}: {error}")

        await asyncio.gather(*map(evaluate, ideas))
        async with open_database(settings) as database:
            rows: Sequence[Any] = await database.fetch(_CALLS)
    return [Prompt._make((*row[:5], _join_messages(row["messages"]))) for row in rows]


def _join_messages(stored: bytes) -> str:
    return "\n".join(
        f"{message.role}: {message.content}" for message in _MESSAGES.validate_json(zlib.decompress(stored))
    )


def _format_table(method: str, prompts: Sequence[Prompt]) -> Iterator[str]:
    runs = len({prompt.run for prompt in prompts}) or 1
    by_task = defaultdict[str, list[tuple[Prompt, Shares]]](list)
    for pair in zip(prompts, compute_shares(prompts), strict=True):
        by_task[pair[0].task].append(pair)
        by_task["all"].append(pair)
    yield f"\n{method}, {runs} ideas\n"
    yield "| task | calls | prompt tokens | cached | answer tokens | begins the idea's | begins any | repeated |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for task, pairs in sorted(by_task.items(), key=lambda entry: -sum(prompt.tokens for prompt, _ in entry[1])):
        characters = sum(shares.characters for _, shares in pairs)
        tokens = sum(prompt.tokens for prompt, _ in pairs)
        yield (
            f"| {task} | {len(pairs) / runs:.1f} | {tokens / runs:,.0f} "
            f"| {sum(prompt.cached for prompt, _ in pairs) / max(tokens, 1):.1%} "
            f"| {sum(prompt.answer_tokens for prompt, _ in pairs) / runs:,.0f} "
            f"| {sum(shares.same_idea for _, shares in pairs) / characters:.1%} "
            f"| {sum(shares.any_idea for _, shares in pairs) / characters:.1%} "
            f"| {sum(shares.repeated for _, shares in pairs) / characters:.1%} |"
        )


if __name__ == "__main__":
    main()
