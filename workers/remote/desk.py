"""Asks one source: a turn for every request, again while that may help, not at all while the source keeps failing."""

import logging

import aiohttp
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter
from yarl import URL

from assayer.errors import SourceBusy, SourceRefused, SourceUnavailable
from assayer.ports import Clock
from assayer.sanitise import clean_text
from workers.remote.address import Address
from workers.remote.breaker import Breaker, Permit
from workers.remote.clerk import Clerk
from workers.remote.failures import RateLimited, TransientFailure, meaning, retry_after
from workers.remote.flight import Flight
from workers.remote.metrics import BREAKER_OPEN, BYTES, RATE_LIMITED, REQUESTS, TURN_WAITS
from workers.remote.settings import SourceSettings
from workers.remote.transport import Answer, Request, TooLarge, send
from workers.remote.turn import Turn, TurnLapsed

__all__ = ["Desk"]

_LOG = logging.getLogger(__name__)
_MOST_REDIRECTS = 3
_EXCUSE = 200
"""Characters of a source's own words in an error."""


class Desk:
    def __init__(
        self,
        source: str,
        settings: SourceSettings,
        address: Address,
        clerk: Clerk,
        session: aiohttp.ClientSession,
        clock: Clock,
    ) -> None:
        self.source = source
        self.settings = settings
        self.address = address
        self.clerk = clerk
        self._session = session
        self._clock = clock
        self._breaker = Breaker(settings.breaker_failures, settings.breaker_seconds)
        self._backoff = wait_exponential_jitter(
            multiplier=settings.backoff_initial_seconds,
            max=settings.backoff_max_seconds,
            jitter=settings.backoff_initial_seconds,
        )
        self._where = f"{source} ({address.host})"

    async def ask(self, flight: Flight) -> Answer:
        """Status 200 or 404. Raises SourceUnavailable, SourceBusy or SourceRefused."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=self._wait,
            retry=retry_if_exception_type(TransientFailure),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    return await self._attempt(flight, attempt.retry_state)
        except RateLimited as limited:
            raise SourceBusy(
                f"{self._where} said {self.settings.attempts} times that there were too many requests: {limited}.",
                f"Is its key used elsewhere too? {self.settings.variable}__SPACING_SECONDS slows us down.",
            ) from limited
        except TransientFailure as failure:
            raise SourceUnavailable(
                f"{self._where} gave no answer in {_tries(self.settings.attempts)}; the last: {failure}.",
                f"Check that it is up and that {self.settings.variable}__BASE_URL is right.",
            ) from failure
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _attempt(self, flight: Flight, state: RetryCallState) -> Answer:
        permit = self._breaker.admit(self._clock.monotonic())
        if permit is None:
            raise self._left_alone()
        url = self.address.url(flight.call)
        again = state.attempt_number > 1
        try:
            for _ in range(1 + _MOST_REDIRECTS):
                answer = await self._one(flight, url, again, permit, state)
                if meaning(answer.status, answer.headers) == "answer":
                    return answer
                url = self.address.redirected(url, answer.headers.get("location", ""))
                again = True
        finally:
            permit.dropped()
        raise SourceRefused(f"{self._where} redirects more than {_MOST_REDIRECTS} times.")

    async def _one(self, flight: Flight, url: URL, again: bool, permit: Permit, state: RetryCallState) -> Answer:
        """One request in one turn: an answer or a redirect."""
        wanted_at = self._clock.monotonic()
        turn = await self.clerk.turn(flight, again)
        TURN_WAITS.labels(self.source).observe(self._clock.monotonic() - wanted_at)
        try:
            answer = await send(self._session, self._request(flight, url), turn)
        except TurnLapsed:
            raise TransientFailure("this machine was too busy to send the request in its turn") from None
        except TooLarge:
            self._succeeded(permit)
            raise SourceRefused(
                f"{self._where} answered with more than {flight.call.max_bytes:,} bytes.", "Ask for less at once."
            ) from None
        except TransientFailure:
            REQUESTS.labels(self.source, "none").inc()
            self._failed(permit)
            raise
        else:
            REQUESTS.labels(self.source, str(answer.status)).inc()
            BYTES.labels(self.source).inc(len(answer.body))
            self._judge(answer, turn, permit, state)
            return answer
        finally:
            turn.done()

    def _judge(self, answer: Answer, turn: Turn, permit: Permit, state: RetryCallState) -> None:
        """Returns for answers and redirects, raises for the rest."""
        means = meaning(answer.status, answer.headers)
        asked = retry_after(answer.headers, self._clock.now())
        if means in {"rate_limited", "transient"} and asked is not None:
            turn.push_back(min(asked, self.settings.retry_after_max_seconds))
        if means == "rate_limited":
            RATE_LIMITED.labels(self.source).inc()
            self._succeeded(permit)
            if asked is None:
                turn.push_back(self._backoff(state))
            raise RateLimited(self._said(answer))
        if means == "transient":
            self._failed(permit)
            raise TransientFailure(self._said(answer))
        self._succeeded(permit)
        if means == "refused":
            raise self._refusal(answer)

    def _succeeded(self, permit: Permit) -> None:
        """It answers, whatever it says."""
        permit.succeeded()
        BREAKER_OPEN.labels(self.source).set(0)

    def _failed(self, permit: Permit) -> None:
        now = self._clock.monotonic()
        permit.failed(now)
        if self._breaker.state(now) == "open":
            _LOG.warning("%s keeps failing and is left alone for %g s", self._where, self.settings.breaker_seconds)
            BREAKER_OPEN.labels(self.source).set(1)
            self.clerk.refuse_all(self._left_alone())

    def _left_alone(self) -> SourceUnavailable:
        again = self._breaker.remaining(self._clock.monotonic())
        return SourceUnavailable(
            f"{self._where} has failed {self._breaker.failures} times in a row and is left alone for now.",
            f"It is tried again in {again:.0f} s.",
        )

    def _refusal(self, answer: Answer) -> SourceRefused:
        variable, said = self.settings.variable, self._said(answer)
        if answer.status not in {401, 403}:
            return SourceRefused(f"{self._where} refused the request: {said}.")
        if self.settings.api_key.get_secret_value():
            return SourceRefused(f"{self._where} refuses our key: {said}.", f"Check {variable}__API_KEY.")
        return SourceRefused(f"{self._where} lets nobody in without a key: {said}.", f"Set {variable}__API_KEY.")

    def _said(self, answer: Answer) -> str:
        words = " ".join(clean_text(answer.body.decode(errors="replace")).split())
        words = self.address.discreet(words)
        if len(words) > _EXCUSE:
            words = words[: _EXCUSE - 1] + "…"
        return f"status {answer.status}" + (f", {words}" if words else "")

    def _request(self, flight: Flight, url: URL) -> Request:
        settings = self.settings
        return Request(
            url=url,
            headers=self.address.headers(),
            body=flight.call.body,
            connect_seconds=settings.connect_seconds,
            answer_seconds=settings.answer_seconds,
            max_bytes=flight.call.max_bytes,
        )

    def _wait(self, state: RetryCallState) -> float:
        """Nothing after a 429: then it is the bucket that holds everybody back."""
        failure = state.outcome.exception() if state.outcome is not None else None
        return 0.0 if isinstance(failure, RateLimited) else self._backoff(state)


def _tries(many: int) -> str:
    return "1 try" if many == 1 else f"{many} tries"
