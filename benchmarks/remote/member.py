"""One of several processes that ask the same source; started by `benchmarks.remote.limits`.

    python -m benchmarks.remote.member DATABASE_URL SOURCE BASE_URL NAME CALLS

Says `ready`, waits for a line, asks for so many things that nobody else asks for, all at once, and prints how many of
its calls ended without an answer, its CPU seconds, and the mean wait in seconds.
"""

import asyncio
import statistics
import sys
import time

from assayer.errors import SourceError
from benchmarks.remote.world import open_database, settings, source_gateway
from workers.remote.gateway import SourceGateway
from workers.remote.request import RequestContext, SourceRequest

_PATHS = {"semantic_scholar": "graph/v1/paper/search", "arxiv": "query"}
_WORDS = {"semantic_scholar": "query", "arxiv": "search_query"}


async def main(url: str, source: str, base_url: str, name: str, calls: int) -> None:
    async with open_database(url) as opened, source_gateway({source: settings(source, base_url)}, opened) as gateway:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.process_time()
        waits = await asyncio.gather(*(_ask(gateway, source, f"{name} {number}") for number in range(calls)))
    answered = [wait for wait in waits if wait is not None]
    cpu = time.process_time() - began
    print(calls - len(answered), f"{cpu:.3f}", f"{statistics.fmean(answered):.3f}", flush=True)


async def _ask(gateway: SourceGateway, source: str, words: str) -> float | None:
    began = time.monotonic()
    call = SourceRequest(source, "search", _PATHS[source], ((_WORDS[source], f"graph {words}"),))
    try:
        await gateway.fetch(call, RequestContext(words.split(maxsplit=1)[0], 600.0))
    except SourceError as error:
        print(error, file=sys.stderr)
        return None
    return time.monotonic() - began


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])))
