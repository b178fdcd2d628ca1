"""Synchronous client, for programs that block while waiting."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
from pydantic import BaseModel
from tenacity import Retrying

from assayer_client.errors import ApiProblem
from assayer_client.evaluations import EvaluationBody
from assayer_client.event_stream import EventReader, EventStream
from assayer_client.files import atomic_file
from assayer_client.item_jobs import ItemCalls
from assayer_client.namespaces import Runner
from assayer_client.operations import Operations
from assayer_client.reports import Report
from assayer_client.requests import ApiCall, Response
from assayer_client.resources import Page
from assayer_client.retries import next_poll, options
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

__all__ = ["Client"]

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)

_ALL_SEEN = httpx2.codes.NO_CONTENT


class Client(Operations[Runner]):
    """Synchronous client, used as a context manager and safe for any number of threads. Every method raises
    ApiProblem and ServiceUnreachable."""

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
        """Create a client; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. Raises
        ConfigurationError."""
        self._requests = RequestBuilder.of(url, key, timeouts or Timeouts())
        self._retries = retries or RetryPolicy()
        self._http = httpx2.Client(transport=transport)
        self._sleep = sleep
        super().__init__(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, call: ApiCall[T]) -> T:
        """Send a call, and retry it if that may help; a repeated POST is executed once."""
        return call.read(self._retrying()(self._sent, call, self._requests.key_of(call)))

    def each(self, listing: Callable[..., Page[T]], **query: Any) -> Iterator[T]:
        """Yield all items of a listing, page by page: `client.each(client.evaluations.list, state="succeeded")`."""
        while True:
            page = listing(**query)
            yield from page.items
            if page.next is None:
                return
            query["after"] = page.next

    def evaluate(self, body: EvaluationBody, *, key: str | None = None, seconds: float | None = None) -> Report:
        """Submit an evaluation, wait for it, and return its report. Raises ApiProblem if there is no report,
        and TimeoutError if it is late: the evaluation then continues, and the same `key` requests the same
        evaluation again."""
        job = (self.evaluations.create(body, key=key)).id
        self.evaluations.wait(job, seconds=seconds)
        return self.evaluations.report(job)

    def poll(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T:
        """Send a call repeatedly until `ended` is true of its answer. Raises TimeoutError."""
        began = time.monotonic()
        while not ended(response := self.run(call)):
            self._sleep(next_poll(time.monotonic() - began, seconds, call.subject))
        return response

    def follow(self, stream: EventStream[E], after: int) -> Iterator[E]:
        following = EventReader(stream, after, self._retries)
        while True:
            broken: Exception | None = None
            try:
                with self._opened(self._requests.stream(stream.path, following.last)) as response:
                    if response.status_code == _ALL_SEEN:
                        return
                    for heard in httpx2.EventSource(response):
                        if (event := following.take(heard)) is not None:
                            yield event
                        if following.ended:
                            return
            except (httpx2.RequestError, ApiProblem) as error:
                broken = self._requests.as_error(error)
            self._sleep(following.pause_after(broken))

    def outcomes(self, calls: ItemCalls[Any, Any, Any, T], job: str, after: int, seconds: float | None) -> Iterator[T]:
        """Yield the outcomes of a multi-item job as they arrive. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = self.run(calls.next_items(job, after))
            yield from page.items
            after = page.last
            if page.is_last:
                return
            if not page.items:
                self._sleep(next_poll(time.monotonic() - began, seconds, job))

    def wait_for_items(self, calls: ItemCalls[Any, Any, T, Any], job: str, seconds: float | None) -> T:
        """Return a multi-item job with all its outcomes. Raises TimeoutError."""
        for _ in self.outcomes(calls, job, 0, seconds):
            continue
        return self.run(calls.get(job))

    def save(self, call: ApiCall[None], target: Path) -> Path:
        """Write an answer of any length to a file atomically."""
        return self._retrying()(self._download, call, target)

    def _download(self, call: ApiCall[None], target: Path) -> Path:
        try:
            with (
                self._requests.request(call, None) as request,
                self._opened(request) as response,
                atomic_file(target) as file,
            ):
                call.read(self._requests.checked(response.status_code, response.headers, b""))
                for piece in response.iter_bytes():
                    file.write(piece)
        except httpx2.RequestError as error:
            raise self._requests.as_error(error) from error
        return target

    def _sent(self, call: ApiCall[T], key: str | None) -> Response:
        try:
            with self._requests.request(call, key) as request:
                response = self._http.send(request, auth=None, follow_redirects=False)
        except httpx2.RequestError as error:
            raise self._requests.as_error(error) from error
        return self._requests.checked(response.status_code, response.headers, response.content)

    @contextmanager
    def _opened(self, request: httpx2.Request) -> Iterator[httpx2.Response]:
        response = self._http.send(request, stream=True, auth=None, follow_redirects=False)
        try:
            if not response.is_success:
                self._requests.checked(response.status_code, response.headers, response.read())
            yield response
        finally:
            response.close()

    def _retrying(self) -> Retrying:
        return Retrying(**options(self._retries), sleep=self._sleep)
