"""`python -m benchmarks.references`: how long a service takes to say what an idea should cite, over HTTP.

Ideas are abstracts of papers of the corpus itself (their own record is kept out by the service). The service is
`assayer serve` in a process and a directory of its own, without a language model. First one request after the other,
then several at once.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from assayer_client import AsyncClient, IdeaBody
from assayer_client.references import ReferencesBody
from benchmarks.chaos.service import Service, serving
from benchmarks.throughput.machine import machine


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.references", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory that `assayer corpus build` made")
    parser.add_argument("--ideas", type=int, default=200, help="requests of each round (default: %(default)s)")
    parser.add_argument("--at-once", type=int, default=8, help="in the second round (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw of abstracts (default: %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o711)  # as root the database's server runs as a user who has to pass through it
        asyncio.run(_measure(options, home))


def _drawn(corpus: Path, count: int, seed: int) -> list[IdeaBody]:
    """Papers with an abstract, drawn from all segments."""
    found = []
    for file in sorted(corpus.glob("segments/*/papers.arrow")):
        with pa.memory_map(str(file)) as source:
            table = pa.ipc.open_file(source).read_all().select(["title", "abstract"])
        found += [row for row in table.to_pylist() if len(row["abstract"] or "") > 400]
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    return [IdeaBody(title=row["title"], text=row["abstract"]) for row in drawn]


async def _measure(options: argparse.Namespace, home: Path) -> None:
    ideas = _drawn(options.corpus, 2 * options.ideas + 5, options.seed)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    environment = own | {"HOME": str(home), "ASSAYER_HOME": str(home), "ASSAYER_CORPUS__PATH": str(options.corpus)}
    async with (
        serving(Service(home, (), environment)) as service,
        AsyncClient(service.address, service.key) as client,
    ):
        slots = asyncio.Semaphore(1)

        async def one(idea: IdeaBody) -> tuple[float, int, int]:
            async with slots:
                began = time.monotonic()
                found = await client.references(ReferencesBody(idea=idea))
                walked = sum(any(path.kind != "dense" for path in paper.found) for paper in found.references)
                return time.monotonic() - began, len(found.references), walked

        await asyncio.gather(*map(one, ideas[:5]))  # what is loaded with the first request is loaded once
        print(f"Machine: {machine()}; load {os.getloadavg()[0]:.1f}; corpus: {options.corpus}")
        _show("one after the other", await asyncio.gather(*map(one, ideas[5 : 5 + options.ideas])))
        slots = asyncio.Semaphore(options.at_once)
        began = time.monotonic()
        found = await asyncio.gather(*map(one, ideas[5 + options.ideas :]))
        _show(f"{options.at_once} at once", found)
        print(f"{len(found) / (time.monotonic() - began):.1f} requests a second")


def _show(name: str, found: Sequence[tuple[float, int, int]]) -> None:
    seconds = [one for one, _, _ in found]
    print(
        f"{name}: {len(found)} requests, p50 {1e3 * statistics.median(seconds):.0f} ms, "
        f"p95 {1e3 * statistics.quantiles(seconds, n=20)[-1]:.0f} ms; "
        f"{statistics.fmean(count for _, count, _ in found):.1f} papers a request, "
        f"{statistics.fmean(walked for _, _, walked in found):.1f} of them along citations"
    )


if __name__ == "__main__":
    main()
