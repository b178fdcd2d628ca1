"""The client for programs that wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import httpx2
from pydantic import BaseModel
from tenacity import Retrying

from assayer.models import Report
from orchestrator.api.batch_resources import BatchResource, BatchSummary
from orchestrator.api.comparison_resources import ComparisonResource
from orchestrator.api.ranking_resources import RankingResource
from orchestrator.api.resources import Evaluation, EvaluationBody, Event
from orchestrator.client import batches, judging, operations
from orchestrator.client.batches import ResultsFormat
from orchestrator.client.calls import Answered, Call
from orchestrator.client.failures import ApiProblem
from orchestrator.client.following import Following, Stream
from orchestrator.client.retrying import next_look, options
from orchestrator.client.saving import saved_as
from orchestrator.client.settings import Deadlines, Patience
from orchestrator.client.surface import Surface
from orchestrator.client.wire import Wire

__all__ = ["Client"]

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)

_ALL_SEEN = httpx2.codes.NO_CONTENT


class Client(Surface):
    """Used as a context manager, by any number of threads. Every method raises ApiProblem and ServiceUnreachable."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        patience: Patience | None = None,
        deadlines: Deadlines | None = None,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Without `url` and `key` those of ASSAYER_API_URL and ASSAYER_API_KEY. Raises ConfigurationError."""
        self._wire = Wire.of(url, key, deadlines or Deadlines())
        self._patience = patience or Patience()
        self._http = httpx2.Client(transport=transport)
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, call: Call[T]) -> T:
        """Sends a call, and again where that may help; a POST that is sent again is done once."""
        return call.read(self._retrying()(self._sent, call, self._wire.key_of(call)))

    def evaluate(self, body: EvaluationBody, *, key: str | None = None, seconds: float | None = None) -> Report:
        """Asks, waits, and reads the report. Raises ApiProblem when there is none, TimeoutError when it has not come
        in time: the work goes on, and the same `key` asks for the same again."""
        job = self.run(operations.submit(body, key=key)).id
        self.wait(job, seconds=seconds)
        return self.run(operations.report(job))

    def wait(self, job: str, *, seconds: float | None = None) -> Evaluation:
        """An evaluation with its verdict. Raises TimeoutError."""
        return self._once(operations.evaluation(job), operations.has_verdict, seconds)

    def events(self, job: str, *, after: int = 0) -> Iterator[Event]:
        """Of an evaluation as they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(operations.events(job), after)

    def wait_for_batch(self, batch: str, *, seconds: float | None = None) -> BatchResource:
        """A batch whose every row has ended. Raises TimeoutError."""
        return self._once(batches.batch(batch), batches.has_ended, seconds)

    def batch_events(self, batch: str) -> Iterator[BatchSummary]:
        """How far it has come whenever that changes, to the end; goes on by itself when the connection breaks."""
        return self._followed(batches.batch_events(batch), 0)

    def save_results(self, batch: str, target: Path, *, format: ResultsFormat = "jsonl") -> Path:
        """What the rows came to so far, streamed into a file that is there whole or not at all."""
        return self._saved(batches.results(batch, format), target)

    def wait_for_comparison(self, job: str, *, seconds: float | None = None) -> ComparisonResource:
        """A comparison with its verdict. Raises TimeoutError."""
        return self._once(judging.comparison(job), judging.has_verdict, seconds)

    def wait_for_ranking(self, job: str, *, seconds: float | None = None) -> RankingResource:
        """A ranking with its verdict. Raises TimeoutError."""
        return self._once(judging.ranking(job), judging.has_verdict, seconds)

    def comparison_events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(judging.comparison_events(job), 0)

    def ranking_events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._followed(judging.ranking_events(job), 0)

    def _once(self, call: Call[T], ended: Callable[[T], bool], seconds: float | None) -> T:
        began = time.monotonic()
        while not ended(found := self.run(call)):
            self._sleep(next_look(time.monotonic() - began, seconds))
        return found

    def _followed(self, stream: Stream[E], after: int) -> Iterator[E]:
        following = Following(stream, after, self._patience)
        while True:
            broken: Exception | None = None
            try:
                with self._opened(self._wire.stream(stream.path, following.last)) as response:
                    if response.status_code == _ALL_SEEN:
                        return
                    for heard in httpx2.EventSource(response):
                        if (event := following.take(heard)) is not None:
                            yield event
                        if following.ended:
                            return
            except (httpx2.RequestError, ApiProblem) as error:
                broken = self._wire.told(error)
            self._sleep(following.broke(broken))

    def _saved(self, call: Call[T], target: Path) -> Path:
        """An answer of any length, in a file."""
        return self._retrying()(self._save, call, target)

    def _save(self, call: Call[T], target: Path) -> Path:
        try:
            with self._wire.request(call, None) as request, self._opened(request) as response, saved_as(target) as file:
                for piece in response.iter_bytes():
                    file.write(piece)
        except httpx2.RequestError as error:
            raise self._wire.told(error) from error
        return target

    def _sent(self, call: Call[T], key: str | None) -> Answered:
        try:
            with self._wire.request(call, key) as request:
                response = self._http.send(request, auth=None, follow_redirects=False)
        except httpx2.RequestError as error:
            raise self._wire.told(error) from error
        return self._wire.judged(response.status_code, response.headers, response.content)

    @contextmanager
    def _opened(self, request: httpx2.Request) -> Iterator[httpx2.Response]:
        response = self._http.send(request, stream=True, auth=None, follow_redirects=False)
        try:
            if not response.is_success:
                self._wire.judged(response.status_code, response.headers, response.read())
            yield response
        finally:
            response.close()

    def _retrying(self) -> Retrying:
        return Retrying(**options(self._patience), sleep=self._sleep)
