"""Synchronous client, for programs that block while waiting."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

import httpx2

from assayer_client.blocking import BlockingHttp, finish, make_blocking_sleep
from assayer_client.evaluations import EvaluationBody
from assayer_client.exchange import Exchange
from assayer_client.namespaces import Sync
from assayer_client.operations import Operations
from assayer_client.reports import Report
from assayer_client.resources import Page
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

T = TypeVar("T")


class Client(Operations[Sync]):
    """Synchronous client, used as a context manager. It is thread-safe. Every method raises ApiProblem if the service
    returns an error, and ServiceUnreachable if there is no valid response."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        retries: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Create a client; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. Raises ConfigurationError if
        either is missing or invalid."""
        requests = RequestBuilder.create(url, key, timeouts or Timeouts())
        self._http = httpx2.Client(transport=transport)
        exchange = Exchange(requests, retries or RetryPolicy(), BlockingHttp(self._http), make_blocking_sleep(sleep))
        super().__init__(exchange, finish)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def each(self, listing: Callable[..., Page[T]], **query: Any) -> Iterator[T]:
        """Yield all items of a listing, page by page: `client.each(client.evaluations.list, state="succeeded")`."""
        while True:
            page = listing(**query)
            yield from page.items
            if page.next is None:
                return
            query["after"] = page.next

    def evaluate(self, body: EvaluationBody, *, key: str | None = None, seconds: float | None = None) -> Report:
        """Submit an evaluation, wait for it, and return its report. Raises ApiProblem if there is no report, and
        TimeoutError if the evaluation takes longer than `seconds`. It then continues, and another call with the same
        `key` returns the same evaluation."""
        job = self.evaluations.create(body, key=key).id
        self.evaluations.wait(job, seconds=seconds)
        return self.evaluations.report(job)
