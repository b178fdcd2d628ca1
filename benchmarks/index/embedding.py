"""Measure how many abstracts per second the configured embedder processes on this machine.

Pass the figure to `assayer corpus plan --texts-per-second`.
"""

import asyncio
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from benchmarks.measuring import build_parser, format_heading
from benchmarks.records import read_records
from cluster.settings_loading import load_settings
from index.segments.passages import build_paper_text
from workers.embedding.embedder import create_local_embedder

_WARM_UP_TEXTS = 8


def main() -> None:
    parser = build_parser("index embedding", __doc__)
    parser.add_argument("papers", type=Path, help="paper records (.jsonl.gz)")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(format_heading(), flush=True)
    records = (record for record in read_records(options.papers) if record.get("abstract"))
    texts = [build_paper_text(record["title"], record["abstract"]) for record in islice(records, options.texts)]
    asyncio.run(_measure(texts, options.turns))


async def _measure(texts: Sequence[str], repetitions: int) -> None:
    embedder = create_local_embedder(load_settings().embedder)
    try:
        await embedder.embed(texts[:_WARM_UP_TEXTS], "passage")
        for repetition in range(repetitions):
            wall, processor = time.perf_counter(), time.process_time()
            await embedder.embed(texts, "passage")
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            print(
                f"turn {repetition + 1}: {len(texts) / wall:.1f} texts/s, "
                f"{1_000 * processor / len(texts):.1f} ms CPU per text"
            )
    finally:
        embedder.close()
