"""The client of one source: a permit for every request, retries while they may help, none while its breaker is open."""

import logging

import aiohttp
from tenacity import RetryCallState
from yarl import URL

from assayer.errors import SourceBusy, SourceRefused, SourceUnavailable
from assayer.ports import Clock
from assayer.text.sanitise import clean_text
from workers.concurrency.single_flight import InFlight
from workers.remote.metrics import BREAKER_OPEN, BYTES, RATE_LIMITED, REQUESTS, TURN_WAITS
from workers.remote.request import RequestWaiter, SourceRequest
from workers.remote.retry_policy import (
    BreakerPermit,
    CircuitBreaker,
    RateLimited,
    RetryPolicy,
    TransientSourceFailure,
    classify_response,
    retry_after,
)
from workers.remote.settings import SourceSettings
from workers.remote.transport import HttpRequest, HttpResponse, ResponseTooLarge, SourceEndpoint, send_request
from workers.remote.turn_scheduler import PermitExpired, SendPermit, TurnScheduler

__all__ = ["SourceClient"]

_LOG = logging.getLogger(__name__)
_MOST_REDIRECTS = 3
_LONGEST_QUOTED = 200
"""Characters of a source's own words in an error."""


class SourceClient:
    """One source, with its endpoint, its rate limit and its circuit breaker. It has no cache."""

    def __init__(
        self,
        source: str,
        settings: SourceSettings,
        endpoint: SourceEndpoint,
        scheduler: TurnScheduler,
        session: aiohttp.ClientSession,
        clock: Clock,
    ) -> None:
        self.source = source
        self.settings = settings
        self.endpoint = endpoint
        self.scheduler = scheduler
        self._session = session
        self._clock = clock
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_seconds)
        self._retry_policy = RetryPolicy(settings)
        self._name = f"{source} ({endpoint.host})"

    async def request(self, request: SourceRequest, call: InFlight[RequestWaiter]) -> HttpResponse:
        """Status 200 or 404. Raises SourceUnavailable, SourceBusy or SourceRefused."""
        try:
            async for attempt in self._retry_policy.retrying():
                with attempt:
                    return await self._attempt(request, call, attempt.retry_state)
        except RateLimited as limited:
            raise SourceBusy(
                f"{self._name} said {self.settings.attempts} times that there were too many requests: {limited}.",
                f"Is its key used elsewhere too? {self.settings.variable}__SPACING_SECONDS slows us down.",
            ) from limited
        except TransientSourceFailure as failure:
            raise SourceUnavailable(
                f"{self._name} gave no answer in {_tries(self.settings.attempts)}; the last: {failure}.",
                f"Check that it is up and that {self.settings.variable}__BASE_URL is right.",
            ) from failure
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _attempt(
        self, request: SourceRequest, call: InFlight[RequestWaiter], state: RetryCallState
    ) -> HttpResponse:
        breaker_permit = self._breaker.admit(self._clock.monotonic())
        if breaker_permit is None:
            raise self._breaker_is_open()
        url = self.endpoint.url(request)
        again = state.attempt_number > 1
        try:
            for _ in range(1 + _MOST_REDIRECTS):
                answer = await self._send(request, call, url, again, breaker_permit, state)
                if classify_response(answer.status, answer.headers) == "answer":
                    return answer
                url = self.endpoint.redirected(url, answer.headers.get("location", ""))
                again = True
        finally:
            breaker_permit.dropped()
        raise SourceRefused(f"{self._name} redirects more than {_MOST_REDIRECTS} times.")

    async def _send(
        self,
        request: SourceRequest,
        call: InFlight[RequestWaiter],
        url: URL,
        again: bool,
        breaker_permit: BreakerPermit,
        state: RetryCallState,
    ) -> HttpResponse:
        """One request with one permit: a response or a redirect."""
        wanted_at = self._clock.monotonic()
        permit = await self.scheduler.permit(call, again)
        TURN_WAITS.labels(self.source).observe(self._clock.monotonic() - wanted_at)
        try:
            answer = await send_request(self._session, self._http_request(request, url), permit)
        except PermitExpired:
            raise TransientSourceFailure("this machine was too busy to send the request in its turn") from None
        except ResponseTooLarge:
            self._succeeded(breaker_permit)
            raise SourceRefused(
                f"{self._name} answered with more than {request.max_bytes:,} bytes.", "Ask for less at once."
            ) from None
        except TransientSourceFailure:
            REQUESTS.labels(self.source, "none").inc()
            self._failed(breaker_permit)
            raise
        else:
            REQUESTS.labels(self.source, str(answer.status)).inc()
            BYTES.labels(self.source).inc(len(answer.body))
            self._judge(answer, permit, breaker_permit, state)
            return answer
        finally:
            permit.done()

    def _judge(
        self, answer: HttpResponse, permit: SendPermit, breaker_permit: BreakerPermit, state: RetryCallState
    ) -> None:
        """Returns for answers and redirects, raises for the rest."""
        means = classify_response(answer.status, answer.headers)
        asked = retry_after(answer.headers, self._clock.now())
        if means in {"rate_limited", "transient"} and asked is not None:
            permit.push_back(min(asked, self.settings.retry_after_max_seconds))
        if means == "rate_limited":
            RATE_LIMITED.labels(self.source).inc()
            self._succeeded(breaker_permit)
            if asked is None:
                permit.push_back(self._retry_policy.backoff(state))
            raise RateLimited(self._quoted(answer))
        if means == "transient":
            self._failed(breaker_permit)
            raise TransientSourceFailure(self._quoted(answer))
        self._succeeded(breaker_permit)
        if means == "refused":
            raise self._refusal(answer)

    def _succeeded(self, permit: BreakerPermit) -> None:
        """It answers, whatever it says."""
        permit.succeeded()
        BREAKER_OPEN.labels(self.source).set(0)

    def _failed(self, permit: BreakerPermit) -> None:
        now = self._clock.monotonic()
        permit.failed(now)
        if self._breaker.state(now) == "open":
            _LOG.warning("%s keeps failing and is left alone for %g s", self._name, self.settings.breaker_seconds)
            BREAKER_OPEN.labels(self.source).set(1)
            self.scheduler.refuse_all(self._breaker_is_open())

    def _breaker_is_open(self) -> SourceUnavailable:
        again = self._breaker.remaining(self._clock.monotonic())
        return SourceUnavailable(
            f"{self._name} has failed {self._breaker.failures} times in a row and is left alone for now.",
            f"It is tried again in {again:.0f} s.",
        )

    def _refusal(self, answer: HttpResponse) -> SourceRefused:
        variable, said = self.settings.variable, self._quoted(answer)
        if answer.status not in {401, 403}:
            return SourceRefused(f"{self._name} refused the request: {said}.")
        if self.settings.api_key.get_secret_value():
            return SourceRefused(f"{self._name} refuses our key: {said}.", f"Check {variable}__API_KEY.")
        return SourceRefused(f"{self._name} lets nobody in without a key: {said}.", f"Set {variable}__API_KEY.")

    def _quoted(self, answer: HttpResponse) -> str:
        words = " ".join(clean_text(answer.body.decode(errors="replace")).split())
        words = self.endpoint.redacted(words)
        if len(words) > _LONGEST_QUOTED:
            words = words[: _LONGEST_QUOTED - 1] + "…"
        return f"status {answer.status}" + (f", {words}" if words else "")

    def _http_request(self, request: SourceRequest, url: URL) -> HttpRequest:
        settings = self.settings
        return HttpRequest(
            url=url,
            headers=self.endpoint.headers(),
            body=request.body,
            connect_seconds=settings.connect_seconds,
            answer_seconds=settings.answer_seconds,
            max_bytes=request.max_bytes,
        )


def _tries(many: int) -> str:
    return "1 try" if many == 1 else f"{many} tries"
