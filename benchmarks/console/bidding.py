"""Bids on a large call: time that the server takes until a reviewer sees the first page of proposals."""

import datetime as dt
import time

import httpx2

from orchestrator.access.api_keys import generate_key
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import TenantId
from orchestrator.store import Database
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.mails import PgMails
from orchestrator.store.members import PgMembers

_REVIEWERS = 6
_EXPERTISE = {
    "keywords": ["forgetting", "rehearsal", "stored examples"],
    "papers": [
        {"title": f"Rehearsal of stored examples, part {n}", "authors": [f"Anna Smith-{n}", "Carl Cox"]}
        for n in range(20)
    ],
    "institutions": ["University of Somewhere"],
    "people": ["Clara Schumann"],
}


async def time_bids(address: str, key: str, tenant: TenantId, batch: str, database: Database) -> None:
    """Ask the reviewers for bids, and time the first and the second view of each."""
    members = PgMembers(database, PgAuditLog(database), PgMails(database, enabled=False))
    async with _open_client(address, key) as officer:
        bidding_response = await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
        bidding_response.raise_for_status()
    print("\nBids: milliseconds of the first and the second view; the index is built before the first", flush=True)
    for number in range(_REVIEWERS):
        member, new_key = MemberId(f"mb_{number}"), generate_key()
        author = ActBy(Actor("bench", "Bench", "owner"), dt.datetime.now(dt.UTC))
        await members.give_key(tenant, member, new_key, author)
        async with _open_client(address, new_key.secret) as reviewer, httpx2.AsyncClient(base_url=address) as browser:
            response = await reviewer.put(f"/v1/members/{member}/expertise", json=_EXPERTISE)
            response.raise_for_status()
            sign_in_response = await browser.post(
                "/console/sign-in", data={"key": new_key.secret}, headers={"Origin": address}
            )
            if sign_in_response.status_code != httpx2.codes.SEE_OTHER:
                raise RuntimeError(f"Signing in was answered with {sign_in_response.status_code}.")
            views = [await _time_view(browser, f"/console/bids/{batch}") for _ in range(2)]
        print(f"reviewer {number + 1}   first {views[0]:6.0f}   second {views[1]:6.0f}", flush=True)


def _open_client(address: str, key: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=120)


async def _time_view(browser: httpx2.AsyncClient, path: str) -> float:
    began = time.perf_counter()
    page = await browser.get(path, timeout=120)
    page.raise_for_status()
    if "bid-ev_" not in page.text:
        raise RuntimeError("The page lists no proposals.")
    return 1_000 * (time.perf_counter() - began)
