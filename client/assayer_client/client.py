"""The client for programs that wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
from pydantic import BaseModel
from tenacity import Retrying

from assayer_client import batches, comparisons, contestation, evaluations, printed, rankings
from assayer_client.batches import BatchResource, BatchSummary, ResultsFormat
from assayer_client.comparisons import ComparisonResource
from assayer_client.curation import CURATIONS, PROPOSALS, SCORES
from assayer_client.errors import ApiProblem
from assayer_client.evaluations import Evaluation, EvaluationBody
from assayer_client.event_stream import EventReader, EventStream
from assayer_client.files import atomic_file
from assayer_client.item_jobs import ItemJobs
from assayer_client.operations import Operations
from assayer_client.rankings import RankingResource
from assayer_client.reports import Report
from assayer_client.requests import ApiCall, Response
from assayer_client.resources import Event, Page
from assayer_client.retries import next_poll, options
from assayer_client.reward_operations import Rewards
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

__all__ = ["Client"]

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)

_ALL_SEEN = httpx2.codes.NO_CONTENT


class Client(Operations):
    """Used as a context manager, by any number of threads. Every method raises ApiProblem and ServiceUnreachable."""

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
        """Without `url` and `key` those of ASSAYER_API_URL and ASSAYER_API_KEY. Raises ConfigurationError."""
        self._requests = RequestBuilder.of(url, key, timeouts or Timeouts())
        self._retries = retries or RetryPolicy()
        self._http = httpx2.Client(transport=transport)
        self._sleep = sleep
        self.rewards = Rewards(self, self._followed, sleep)
        self.curations = ItemJobs(CURATIONS, self, self._followed, sleep)
        self.proposals = ItemJobs(PROPOSALS, self, self._followed, sleep)
        self.scores = ItemJobs(SCORES, self, self._followed, sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, call: ApiCall[T]) -> T:
        """Sends a call, and again where that may help; a POST that is sent again is done once."""
        return call.read(self._retrying()(self._sent, call, self._requests.key_of(call)))

    def each(self, listing: Callable[..., Page[T]], **query: Any) -> Iterator[T]:
        """All that a listing holds, page after page: `client.each(client.evaluations, state="done")`."""
        while True:
            page = listing(**query)
            yield from page.items
            if page.next is None:
                return
            query["after"] = page.next

    def evaluate(self, body: EvaluationBody, *, key: str | None = None, seconds: float | None = None) -> Report:
        """Asks, waits, and reads the report. Raises ApiProblem when there is none, TimeoutError when it has not come
        in time: the work goes on, and the same `key` asks for the same again."""
        job = self.run(evaluations.submit(body, key=key)).id
        self.wait(job, seconds=seconds)
        return self.run(evaluations.report(job))

    def wait(self, job: str, *, seconds: float | None = None) -> Evaluation:
        """An evaluation with its verdict. Raises TimeoutError."""
        return self._once(evaluations.evaluation(job), evaluations.has_ended, seconds)

    def events(self, job: str, *, after: int = 0) -> Iterator[Event]:
        """Of an evaluation as they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(evaluations.events(job), after)

    def wait_for_batch(self, batch: str, *, seconds: float | None = None) -> BatchResource:
        """A batch whose every row has ended. Raises TimeoutError."""
        return self._once(batches.batch(batch), batches.has_ended, seconds)

    def batch_events(self, batch: str) -> Iterator[BatchSummary]:
        """How far it has come whenever that changes, to the end; goes on by itself when the connection breaks."""
        return self._followed(batches.batch_events(batch), 0)

    def save_results(
        self,
        batch: str,
        target: Path,
        *,
        format: ResultsFormat = "jsonl",
        reference: str | None = None,
        ranking: str = "",
    ) -> Path:
        """What the rows, or those of one reference, came to so far; the file is there whole or not at all."""
        return self._saved(batches.results(batch, format, reference, ranking), target)

    def save_brief(self, job: str, target: Path) -> Path:
        """An evaluation's report on two pages of PDF. Raises ApiProblem when there is none."""
        return self._saved(printed.brief(job), target)

    def save_dossier(self, batch: str, target: Path, *, ranking: str = "") -> Path:
        """What came of a batch, as PDF, in the order of a ranking or by score."""
        return self._saved(printed.dossier(batch, ranking), target)

    def save_contestation(self, job: str, target: Path) -> Path:
        """What an applicant is given who contests an evaluation, as PDF."""
        return self._saved(contestation.contestation_pdf(job), target)

    def wait_for_comparison(self, job: str, *, seconds: float | None = None) -> ComparisonResource:
        """A comparison with its verdict. Raises TimeoutError."""
        return self._once(comparisons.comparison(job), comparisons.has_ended, seconds)

    def wait_for_ranking(self, job: str, *, seconds: float | None = None) -> RankingResource:
        """A ranking with its verdict. Raises TimeoutError."""
        return self._once(rankings.ranking(job), rankings.has_ended, seconds)

    def comparison_events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(comparisons.comparison_events(job), 0)

    def ranking_events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(rankings.ranking_events(job), 0)

    def _once(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T:
        began = time.monotonic()
        while not ended(found := self.run(call)):
            self._sleep(next_poll(time.monotonic() - began, seconds, call.subject))
        return found

    def _followed(self, stream: EventStream[E], after: int) -> Iterator[E]:
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

    def _saved(self, call: ApiCall[T], target: Path) -> Path:
        """An answer of any length, in a file."""
        return self._retrying()(self._save, call, target)

    def _save(self, call: ApiCall[T], target: Path) -> Path:
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
