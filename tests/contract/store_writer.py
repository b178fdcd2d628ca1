"""A process that uses the embedded database of a directory and writes answers until it is done or killed.

    python -m tests.contract.store_writer DIRECTORY RUN COUNT

Prints each key after the store said that it is recorded.
"""

import asyncio
import sys
from pathlib import Path

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache
from tests.contract.store_records import answer, build_answered_row

WORKERS = 8


async def write(home: Path, run: str, count: int) -> None:
    # Not closed at the end: that a process leaves by itself is part of what is tested.
    server = EmbeddedPostgres(home, durable=False)
    async with Database(DatabaseSettings(), server.ensure) as database:
        await database.migrate()
        answers = PgAnswerCache(database)
        numbers = iter(range(count))

        async def work() -> None:
            for number in numbers:
                key = f"{run}-{number}"
                await answers.record(build_answered_row(key, run), answer(key))
                print(key, flush=True)

        await asyncio.gather(*(work() for _ in range(WORKERS)))


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
