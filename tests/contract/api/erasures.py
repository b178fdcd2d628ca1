"""Erasing over the API, and looking for what is left in the database."""

from typing import Any

import httpx2

from orchestrator.store import Database
from tests.contract.api.service import JSONL_HEADERS
from tests.polling import wait_until_async
from tests.unit.batch_bodies import make_idea_text, render_jsonl

_ROWS = render_jsonl(
    [
        {"id": "A-1", "title": "Reeds", "text": make_idea_text(1)},
        {"id": "A-2", "title": "Moss", "text": make_idea_text(2)},
        {"id": "A-3", "title": "-"},
    ]
)


async def submit_rows_to_erase(caller: httpx2.AsyncClient) -> str:
    """Submit a batch with the accepted rows A-1 and A-2 and the rejected row A-3, and return its id."""
    answer = await caller.post("/v1/batches", content=_ROWS, headers=JSONL_HEADERS)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def request_erasure(caller: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    """Erase, or try it with `dry_run`, and return the answer."""
    answer = await caller.post("/v1/erasures", json=body)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def erase_and_fetch_proof(caller: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    """Erase and return the proof of erasure."""
    erasure = await request_erasure(caller, **body)
    proof: dict[str, Any] = (await caller.get(f"/v1/erasures/{erasure['proof']}")).json()
    return proof


async def find_tables_with(database: Database, word: str) -> list[str]:
    """Return the names of all tables with a row that contains the word."""
    tables = await database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return [
        name
        for (name,) in tables
        if await database.fetch(f"SELECT FROM {name} AS row WHERE row::text LIKE '%' || $1 || '%'", word)
    ]


async def wait_for_blocked_statements(database: Database, count: int) -> None:
    """Wait until that many statements wait for a lock."""
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

    async def is_blocked() -> bool:
        return len(await database.fetch(query)) >= count

    await wait_until_async(is_blocked)
