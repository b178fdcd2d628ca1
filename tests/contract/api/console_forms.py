"""Use the console without a browser: sign in and send forms."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from tests.contract.api.service import Service


@asynccontextmanager
async def open_session(service: Service, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client with the session cookie of the key's owner."""
    async with service.open_client(url=None) as client:
        answer = await client.post("/console/sign-in", data={"key": key}, headers={"Origin": "http://api"})
        assert answer.status_code == 303, answer.text
        yield client


def find_hidden_field(page: str, name: str) -> str:
    """Return the value of a form field in the HTML of a page."""
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


async def fetch_csrf_token(client: httpx2.AsyncClient, path: str) -> str:
    """Open a page and return the CSRF token of its first form."""
    return find_hidden_field((await client.get(path)).text, "csrf_token")


async def submit_form(
    client: httpx2.AsyncClient, page: str, path: str = "", **fields: str | list[str]
) -> httpx2.Response:
    """Send a form of a page, with its CSRF token, to a path below the page, or to an address of the console."""
    body = {"csrf_token": await fetch_csrf_token(client, page), **fields}
    url = path if path.startswith("/console") else f"{page}{path}"
    return await client.post(url, data=body, headers={"Origin": "http://api"})
