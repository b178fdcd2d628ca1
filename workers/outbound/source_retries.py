"""Client for one source, which adds credentials, limits the rate, retries, and stops querying a source that keeps
failing."""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)
from yarl import URL

from assayer.errors import SourceBusy, SourceRefused, SourceUnavailable
from assayer.ports import Clock
from assayer.text.sanitise import clean_text
from assayer.version import __version__
from workers.outbound.http import (
    HttpClient,
    HttpFailure,
    HttpRequest,
    HttpResponse,
    classify_response,
    find_retry_after,
    redact_secrets,
)
from workers.outbound.metrics import BREAKER_OPEN, BYTES, REQUESTS, TURN_WAITS
from workers.outbound.priority_gate import Place
from workers.outbound.source_pace import PaceLimits, Pacer, Turn, Wait
from workers.outbound.source_requests import SourceRequest
from workers.outbound.source_settings import SourceSettings
from workers.outbound.store import SharedState

_LOG = logging.getLogger(__name__)
_MAX_REDIRECTS = 3
_MAX_QUOTED_CHARS = 200
"""Maximum number of characters of a source's message that an error quotes."""


class SourceAddress:
    """Address of an enabled source, and the credentials for it."""

    def __init__(self, source: str, settings: SourceSettings, base_url: str) -> None:
        self._source = source
        self._settings = settings
        self._base = URL(base_url)
        self._secret = settings.api_key.get_secret_value()
        self.host = self._base.authority.rpartition("@")[2]

    @property
    def rate_limit_key(self) -> str:
        """Return the key under which processes share rate limits: one per API, host and API key."""
        return f"{self._source} {self.host} {hashlib.sha256(self._secret.encode()).hexdigest()[:16]}"

    def build_cache_key(self, request: SourceRequest) -> str:
        """Return the response's cache key, equal for all callers that send the same request to the same server."""
        key_parts = [request.source, str(self._base), request.path, sorted(request.params), request.body]
        return hashlib.sha256(json.dumps(key_parts).encode()).hexdigest()

    def build_url(self, request: SourceRequest) -> URL:
        """Return a request's URL. Raises SourceRefused if its path leads outside the source's base URL."""
        base = str(self._base).rstrip("/") + "/"
        url = URL(base + request.path)
        if not str(url).startswith(base):
            raise SourceRefused(f"The path {request.path!r} leads outside the base URL of {self._source}.")
        return url.extend_query(list(request.params) + self._build_params())

    def resolve_redirect(self, url: URL, location: str) -> URL:
        """Return a redirect's target. Raises SourceRefused if the host, port or scheme is different, except for a
        change from HTTP to HTTPS."""
        try:
            target = url.join(URL(location))
        except ValueError:
            target = URL()
        is_upgrade_to_https = (url.scheme, target.scheme, target.port) == ("http", "https", 443)
        if target.host != url.host or not (is_upgrade_to_https or target.origin() == url.origin()):
            raise SourceRefused(
                f"{self._source} redirected from {self.host} to {target.authority or 'an invalid URL'}, which is not "
                "allowed.",
                f"Check {self._settings.variable}__BASE_URL.",
            )
        missing_params = {name: value for name, value in self._build_params() if name not in target.query}
        return target.update_query(missing_params) if missing_params else target

    def build_headers(self) -> Mapping[str, str]:
        key_place = self._settings.key_place
        headers = {"User-Agent": f"assayer/{__version__}", "Accept": "*/*", **dict(self._settings.headers)}
        if self._secret and key_place.kind == "header":
            headers[key_place.name] = key_place.prefix + self._secret
        if self._settings.connections == 1:
            headers["Connection"] = "close"  # an idle connection would be a second one when another process connects
        return headers

    def redact(self, text: str) -> str:
        """Return the text without the key and the email address."""
        return redact_secrets(text, self._secret, self._settings.email)

    def _build_params(self) -> list[tuple[str, str]]:
        key_place, email = self._settings.key_place, self._settings.email
        params = []
        if self._secret and key_place.kind == "param":
            params.append((key_place.name, self._secret))
        if email and self._settings.email_param:
            params.append((self._settings.email_param, email))
        return params


class Line(Protocol):
    """Queue interface through which a request waits for its turns at the source."""

    def take_place(self) -> Place[int]:
        """Return a new place in the queue, for one turn."""
        ...

    def check(self, wait: Wait | None) -> None:
        """Raise an exception to give up waiting. `wait` is None if the request is first in the queue."""
        ...

    def begin(self) -> None:
        """Record that the request's turn has begun."""
        ...


class _Transient(Exception):
    """Failure that may go away if the same request is retried."""


class _RateLimited(_Transient):
    """Failure because the source received too many requests."""


class CircuitBreaker:
    """Circuit breaker that opens after `threshold` consecutive failures. After `pause` seconds, it admits one attempt
    at a time (a probe) until one succeeds. Times are in seconds, from any one clock."""

    def __init__(self, threshold: int, pause: float) -> None:
        self._threshold = threshold
        self._pause = pause
        self._opened_at: float | None = None
        self._is_probing = False
        self.failures = 0
        """Number of consecutive failures."""

    def compute_wait(self, now: float) -> float:
        """Return the seconds until the next attempt is admitted; 0 if the breaker is not open."""
        return 0.0 if self._opened_at is None else max(0.0, self._opened_at + self._pause - now)

    @contextmanager
    def admit_attempt(self, now: float) -> Iterator[bool | None]:
        """Yield whether the attempt within the block is a probe; None if no attempt is admitted."""
        is_probe = self._opened_at is not None
        is_refused = self.compute_wait(now) > 0 or (is_probe and self._is_probing)
        if is_refused:
            yield None
            return
        self._is_probing = self._is_probing or is_probe
        try:
            yield is_probe
        finally:
            self._is_probing = self._is_probing and not is_probe

    def record_success(self) -> None:
        self.failures, self._opened_at = 0, None

    def record_failure(self, now: float, was_probe: bool) -> None:
        self.failures += 1
        if was_probe or (self._opened_at is None and self.failures >= self._threshold):
            self._opened_at = now


class SourceClient:
    """Client that sends requests to one source, without a cache. It belongs to one event loop, in which it must be
    closed."""

    def __init__(self, source: str, settings: SourceSettings, state: SharedState, clock: Clock) -> None:
        self.settings = settings
        self.address = SourceAddress(source, settings, settings.base_url or "")
        limits = PaceLimits(
            settings.spacing_seconds, settings.connections, settings.answer_seconds + 1.0, settings.daily_budget
        )
        self.pacer = Pacer(state, self.address.rate_limit_key, limits)
        self._source = source
        self._http = HttpClient(settings.connect_seconds)
        self._clock = clock
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_seconds)
        initial_seconds = settings.backoff_initial_seconds
        self._backoff = wait_exponential(multiplier=initial_seconds, max=settings.backoff_max_seconds) + wait_random(
            0, initial_seconds
        )
        self._name = f"{source} ({self.address.host})"

    async def send_with_retries(self, request: SourceRequest, line: Line) -> HttpResponse:
        """Return a response with status 200 or 404. Raises SourceUnavailable, SourceBusy or SourceRefused if there is
        none."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=self._compute_delay,
            retry=retry_if_exception_type(_Transient),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    return await self._send_following_redirects(request, line, attempt.retry_state)
        except _RateLimited as limited:
            raise SourceBusy(
                f"{self._name} still reported too many requests after "
                f"{_format_tries(self.settings.attempts)}: {limited}.",
                "Check whether the key is also in use elsewhere, or increase "
                f"{self.settings.variable}__SPACING_SECONDS.",
            ) from limited
        except _Transient as failure:
            raise SourceUnavailable(
                f"{self._name} did not answer in {_format_tries(self.settings.attempts)}. Last failure: {failure}.",
                f"Check that it is up and that {self.settings.variable}__BASE_URL is correct.",
            ) from failure
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def aclose(self) -> None:
        await self.pacer.aclose()
        await self._http.aclose()

    async def _send_following_redirects(
        self, request: SourceRequest, line: Line, state: RetryCallState
    ) -> HttpResponse:
        url = self.address.build_url(request)
        with self._breaker.admit_attempt(self._clock.monotonic()) as is_probe:
            if is_probe is None:
                raise self._build_suspended_error()
            for _ in range(1 + _MAX_REDIRECTS):
                response = await self._send(request, url, line, is_probe, state)
                if classify_response(response.status, response.headers) != "redirect":
                    return response
                url = self.address.resolve_redirect(url, response.headers.get("location", ""))
        raise SourceRefused(f"{self._name} redirected more than {_MAX_REDIRECTS} times.")

    async def _send(
        self, request: SourceRequest, url: URL, line: Line, is_probe: bool, state: RetryCallState
    ) -> HttpResponse:
        """Send one request, in its own turn; return a response or a redirect."""

        def check(wait: Wait | None) -> None:
            if self._breaker.compute_wait(self._clock.monotonic()):
                raise self._build_suspended_error()  # the breaker has opened since this request joined the queue
            line.check(wait)

        requested_at = self._clock.monotonic()
        async with self.pacer.take_turn(
            line.take_place(), self.settings.prices.get(request.operation, 1), check
        ) as turn:
            line.begin()
            TURN_WAITS.labels("source", self._source).observe(self._clock.monotonic() - requested_at)
            body = None if request.body is None else request.body.encode()
            http = HttpRequest(
                url,
                self.address.build_headers(),
                self.settings.answer_seconds,
                request.max_bytes,
                body,
                "GET" if body is None else "POST",
            )
            try:
                response = await self._http.send(http)
            except HttpFailure as failure:
                if failure.kind == "too_large":
                    self._record_success()
                    raise SourceRefused(
                        f"The response from {self._name} is larger than {request.max_bytes:,} bytes.",
                        "Request fewer records at once.",
                    ) from None
                REQUESTS.labels("source", self._source, "none").inc()
                self._record_failure(is_probe)
                # Not chained, because the causes quote the URL, which can contain the key.
                raise _Transient(str(failure)) from None
            REQUESTS.labels("source", self._source, str(response.status)).inc()
            BYTES.labels("source", self._source).inc(len(response.body))
            self._check_response(response, turn, is_probe, state)
            return response

    def _check_response(self, response: HttpResponse, turn: Turn, is_probe: bool, state: RetryCallState) -> None:
        """Raise an error unless the response is an answer, a missing item or a redirect."""
        kind = classify_response(response.status, response.headers)
        requested_seconds = find_retry_after(response.headers, self._clock.now())
        if kind in {"rate_limited", "transient"} and requested_seconds is not None:
            turn.pause(min(requested_seconds, self.settings.retry_after_max_seconds))
        if kind == "rate_limited":
            self._record_success()
            if requested_seconds is None:
                turn.pause(self._backoff(state))
            raise _RateLimited(self._quote_body(response))
        if kind == "transient":
            self._record_failure(is_probe)
            raise _Transient(self._quote_body(response))
        if kind == "redirect":
            return  # the target of the redirect decides
        self._record_success()
        if kind == "refused":
            raise self._build_refusal(response)

    def _record_success(self) -> None:
        """Record that the source responds, whatever the response was."""
        self._breaker.record_success()
        BREAKER_OPEN.labels("source", self._source).set(0)

    def _record_failure(self, was_probe: bool) -> None:
        now = self._clock.monotonic()
        self._breaker.record_failure(now, was_probe)
        if self._breaker.compute_wait(now):
            _LOG.warning("%s keeps failing: no requests for %g s", self._name, self.settings.breaker_seconds)
            BREAKER_OPEN.labels("source", self._source).set(1)

    def _build_suspended_error(self) -> SourceUnavailable:
        seconds = self._breaker.compute_wait(self._clock.monotonic())
        return SourceUnavailable(
            f"{self._name} has failed {self._breaker.failures} times in a row. Requests to it are suspended.",
            f"The next attempt is in {seconds:.0f} s.",
        )

    def _compute_delay(self, state: RetryCallState) -> float:
        """Return the backoff in seconds; 0 after a 429, because the shared pause already delays all requests."""
        failure = state.outcome.exception() if state.outcome is not None else None
        return 0.0 if isinstance(failure, _RateLimited) else self._backoff(state)

    def _build_refusal(self, response: HttpResponse) -> SourceRefused:
        variable, quoted_message = self.settings.variable, self._quote_body(response)
        if response.status not in {401, 403}:
            return SourceRefused(f"{self._name} refused the request: {quoted_message}.")
        if self.settings.api_key.get_secret_value():
            return SourceRefused(f"{self._name} rejected the API key: {quoted_message}.", f"Check {variable}__API_KEY.")
        return SourceRefused(f"{self._name} requires an API key: {quoted_message}.", f"Set {variable}__API_KEY.")

    def _quote_body(self, response: HttpResponse) -> str:
        text = " ".join(clean_text(response.body.decode(errors="replace")).split())
        text = self.address.redact(text)
        if len(text) > _MAX_QUOTED_CHARS:
            text = text[: _MAX_QUOTED_CHARS - 1] + "…"
        return f"status {response.status}" + (f", {text}" if text else "")


def _format_tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"
