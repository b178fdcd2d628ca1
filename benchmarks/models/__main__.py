"""`python -m benchmarks.models PAPERS`: the embedder against sentence-transformers' own `encode`, same model, texts and
precision, in turns; and what a single query waits while a batch keeps the model busy."""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.index.machine import machine
from benchmarks.models.papers import texts_of
from workers.batching.micro_batcher import MicroBatcher
from workers.batching.padded_batches import TokenizedText
from workers.embedding.sentence_model import EmbeddingInput, EmbeddingVector, SentenceModel
from workers.embedding.settings import EmbedderSettings

_CALLERS = 32
"""Ideas in flight, each with a few texts at a time."""
_AT_A_TIME = 4


class Counting(SentenceModel):
    """Counts the tokens of the texts, and those of the passes."""

    read = computed = 0

    def compute(self, shape: int, some: Sequence[TokenizedText]) -> Sequence[EmbeddingVector]:
        self.read += sum(one.length for one in some)
        self.computed += shape * self.rows(shape)
        return super().compute(shape, some)


class Took(NamedTuple):
    wall: float
    cpu: float


class Bench:
    def __init__(self, settings: EmbedderSettings, texts: Sequence[str]) -> None:
        self.texts = texts
        self.model = Counting(settings)
        self.model.prepare([EmbeddingInput("warm", "query")])
        self._thread = ThreadPoolExecutor(1)
        self.batcher = MicroBatcher[EmbeddingInput, TokenizedText, EmbeddingVector](
            self.model, self._thread, window_seconds=0.003
        )

    def close(self) -> None:
        self._thread.shutdown()

    def theirs(self) -> None:
        self.model._model.encode(list(self.texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False)

    def one_caller(self) -> None:
        asyncio.run(self._ask(self.texts))

    def many_callers(self) -> None:
        async def run() -> None:
            async with asyncio.TaskGroup() as group:
                for first in range(_CALLERS):
                    group.create_task(self._one_of_many(self.texts[first::_CALLERS]))

        asyncio.run(run())

    async def _one_of_many(self, texts: Sequence[str]) -> None:
        for start in range(0, len(texts), _AT_A_TIME):
            await self._ask(texts[start : start + _AT_A_TIME])

    async def _ask(self, texts: Sequence[str], urgent: bool = False) -> None:
        await self.batcher.compute([EmbeddingInput(one, "passage") for one in texts], urgent)

    async def waits(self, queries: int, busy: bool, urgent: bool) -> list[float]:
        """Seconds of single queries, one after the other."""
        bulk = asyncio.ensure_future(self._ask(self.texts)) if busy else None
        found = []
        for number in range(queries):
            await asyncio.sleep(0.05)
            started = time.perf_counter()
            await self._ask([f"Do reviewers agree on novelty, question {number}?"], urgent)
            found.append(time.perf_counter() - started)
            if bulk and bulk.done():
                break
        if bulk:
            bulk.cancel()
            await asyncio.wait([bulk])
        return found


def took(work: Callable[[], None]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", type=Path, help="records, .jsonl.gz")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--model", default=EmbedderSettings().model)
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args()
    print(machine())
    bench = Bench(EmbedderSettings(model=chosen.model), texts_of(chosen.papers, chosen.texts))
    ways = {"encode": bench.theirs, "one caller": bench.one_caller, f"{_CALLERS} callers": bench.many_callers}
    measured: dict[str, list[Took]] = {name: [] for name in ways}
    padding: dict[str, float] = {}
    for _ in range(chosen.turns):
        for name, work in ways.items():
            bench.model.read = bench.model.computed = 0
            measured[name].append(took(work))
            if bench.model.computed:
                padding[name] = 1 - bench.model.read / bench.model.computed
                tokens = bench.model.read
    base = min(one.cpu for one in measured["encode"])
    for name, turns in measured.items():
        wall, cpu = min(one.wall for one in turns), min(one.cpu for one in turns)
        print(
            f"{name:<12} {chosen.texts / wall:6.1f} texts/s, {tokens / wall:7.0f} tokens/s, "
            f"{cpu / chosen.texts * 1000:5.1f} ms of CPU a text ({cpu / base:.2f} of encode's), "
            + (f"padding {padding[name]:.0%}" if name in padding else "padding not known")
        )
    for name, busy, urgent in (("idle", False, False), ("busy, urgent", True, True), ("busy, not urgent", True, False)):
        waited = asyncio.run(bench.waits(1 if busy and not urgent else 20, busy, urgent))
        median, longest = statistics.median(waited), max(waited)
        print(f"one query, {name:<17} median {median:.3f} s, longest {longest:.3f} s of {len(waited)}")
    bench.close()


if __name__ == "__main__":
    main()
