"""Client for one OpenAI-compatible endpoint. It sends requests in each model's dialect, within a limit on requests in
flight.

The gateway handles budgets, parsing and retries. Requests are sent over plain HTTP, because the official client takes
four times the CPU time (docs/adr/0027)."""

import hashlib
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import aiohttp
from pydantic_core import to_json
from yarl import URL

from assayer.errors import LlmRejected, LlmUnavailable
from assayer.models import Fault, FaultKind
from assayer.ports import Clock
from workers.llm.adaptive_admission import AdaptiveLimit, Admission, TokenBudget
from workers.llm.chat_completion import ChatRequest, ChatResult, Requester
from workers.llm.completion import Completion, UnusableResponse, parse_completion
from workers.llm.context_window import parse_listed_windows, parse_props_window
from workers.llm.dialect_fallback import Dialect, create_initial_dialect
from workers.llm.error_body import decode_text, parse_error_body, parse_json
from workers.llm.errors import (
    PermanentLlmFailure,
    ReadTokens,
    TransientLlmFailure,
    build_failure,
    explain_rejection,
    extract_rejected_generation,
)
from workers.llm.metrics import ASKED, IN_FLIGHT, LIMIT
from workers.llm.process_share import ProcessShare
from workers.llm.settings import LlmSettings
from workers.outbound.http import (
    HttpClient,
    HttpFailure,
    HttpRequest,
    HttpResponse,
    find_retry_after,
    read_json,
    redact_secrets,
)
from workers.outbound.metrics import BYTES, REQUESTS, TURN_WAITS
from workers.outbound.store import SharedState

_LOG = logging.getLogger(__name__)
REACH_SECONDS = 15.0
PROBE_SECONDS = 20.0
_PROBE_TOKENS = 16
_MIN_SECRET_CHARS = 8
MAX_BYTES = 16 * 2**20
"""Maximum size of a response in bytes, far more than any model's longest answer."""


class LlmEndpoint:
    """Client for an endpoint. Implements `workers.llm.chat_completion.LlmTransport`. It belongs to one event loop, in
    which it must be closed."""

    def __init__(self, settings: LlmSettings, clock: Clock, state: SharedState | None = None) -> None:
        """Create an endpoint. Its limits are shared with all processes that use the same `state`; without `state`, they
        are not shared."""
        self._settings = settings
        self._clock = clock
        self._http = HttpClient(settings.connect_timeout_seconds, settings.concurrency.max)
        self._secret = settings.api_key.get_secret_value()
        parts = urlsplit(settings.base_url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
        """Base URL for display, without credentials."""
        # A user name and password in the URL mean basic authentication, unless an API key is set.
        basic = "@" in parts.netloc and not self._secret
        self._url = URL(settings.base_url if basic else parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl())
        self._headers = {"Accept": "application/json"}
        if "api-version" in parse_qs(parts.query):  # Azure, which expects the key in its own header
            self._headers["api-key"] = self._secret
        elif not basic:
            self._headers["Authorization"] = f"Bearer {self._secret or 'none'}"
        self._first_dialect = create_initial_dialect(settings.structured, settings.reasoning_effort)
        self._dialects: dict[str, Dialect] = {}
        """Dialects found out from refusals, by model."""
        self._chat = self._build_url("/chat/completions")
        self._models_that_answered: set[str] = set()
        """Models that have answered at least once."""
        self.admission = self._create_admission(state)

    def get_dialect(self, model: str) -> Dialect:
        """Return the dialect currently used for the model."""
        return self._dialects.get(model, self._first_dialect)

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        sent_at = 0.0

        def on_send() -> None:
            nonlocal sent_at
            sent_at = self._clock.monotonic()
            requester.record_send(sent_at)

        requested_at = self._clock.monotonic()
        with ASKED.track_inprogress():
            async with self.admission.admit(requester.urgency) as admitted_request:
                TURN_WAITS.labels("llm", request.model).observe(self._clock.monotonic() - requested_at)
                try:
                    with IN_FLIGHT.track_inprogress():
                        completion = await self._send(request.model, request.build_body, on_send, request.max_tokens)
                except TransientLlmFailure as failure:
                    if failure.is_overload:
                        # A request is not retried after a longer wait, so such a wait should not pause others either.
                        is_acceptable_wait = (failure.retry_after or 0.0) <= self._settings.retry_after_max_seconds
                        tokens_read = (
                            0
                            if failure.read_tokens is None
                            else sum(request.count_usage_without_answer(failure.read_tokens))
                        )
                        admitted_request.record_turned_away(
                            failure.retry_after if is_acceptable_wait else None, tokens_read
                        )
                    raise
                finally:
                    LIMIT.set(self.admission.max_in_flight)
                tokens_read, tokens_written = request.count_usage(completion)
                kind = (request.model, request.task, tokens_read.bit_length(), tokens_written.bit_length())
                admitted_request.record_response(kind, self._clock.monotonic() - sent_at, tokens_read + tokens_written)
        return ChatResult(completion)

    async def transfer(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        seconds: float,
        body: bytes | aiohttp.FormData | None = None,
        max_bytes: int | None = None,
    ) -> bytes:
        """Send a request other than a chat completion, and return the response body. The body may have at most
        `max_bytes` bytes (default: `MAX_BYTES`).

        Raises TransientLlmFailure or PermanentLlmFailure if there is no usable response."""
        response = await self._send_request(method, path, seconds, body, max_bytes)
        if response.status >= 400:
            raise self._build_failure(response, _parse_body(response))
        return response.body

    async def reach(self) -> Mapping[str, int]:
        """Check that a server responds, and return the context windows that it states, by model. Any response counts,
        because not all servers list their models. Raises TransientLlmFailure if there is none."""
        response = await self._send_request("GET", "/models", REACH_SECONDS)
        models = read_json(response.body) if response.status == 200 else None
        windows = parse_listed_windows(models)
        if not windows and b"llamacpp" in response.body:
            props_url = self._url.with_path("/props").with_query(None)
            response = await self._send_request("GET", props_url, REACH_SECONDS)
            windows = parse_props_window(read_json(response.body)) if response.status == 200 else {}
        return windows

    async def probe(self, model: str) -> None:
        """Send a tiny request, without retries. Raises LlmRejected (wrong key, unknown model) or LlmUnavailable."""

        def build_body(dialect: Dialect) -> dict[str, Any]:
            message = {"role": "user", "content": "Answer with the single word: yes"}
            return {"model": model, "messages": [message], dialect.tokens_field: _PROBE_TOKENS}

        try:
            await self._send(model, build_body, lambda: None, _PROBE_TOKENS, PROBE_SECONDS)
        except PermanentLlmFailure as failure:
            variable = self._settings.variable_in_use
            raise LlmRejected(*explain_rejection(failure, self.address, model, variable)) from None
        except TransientLlmFailure as failure:
            if failure.fault.kind in {"connection", "timeout"}:
                raise LlmUnavailable(
                    f"The LLM endpoint {self.address} is down: {failure}.",
                    "Check that it is running and that ASSAYER_LLM__BASE_URL is correct.",
                ) from None
            raise LlmUnavailable(
                f"The LLM endpoint {self.address} responds, but model {model!r} gives no answer: {failure}.",
                "Try again later.",
            ) from None

    async def aclose(self) -> None:
        """Close all connections. Requests in flight fail."""
        await self.admission.aclose()
        await self._http.aclose()

    def _create_admission(self, state: SharedState | None) -> Admission:
        settings, monotonic = self._settings, self._clock.monotonic
        max_in_flight = settings.concurrency.max
        limit = AdaptiveLimit(min(settings.concurrency.start, max_in_flight), max_in_flight)
        if state is None:
            return Admission(limit, monotonic)
        account_hash = hashlib.sha256(f"{settings.base_url} {self._secret}".encode()).hexdigest()[:32]
        tokens = None if settings.tokens_per_minute is None else TokenBudget(settings.tokens_per_minute)
        return Admission(limit, monotonic, ProcessShare(state, f"llm {account_hash}", max_in_flight, monotonic), tokens)

    async def _send(
        self,
        model: str,
        body: Callable[[Dialect], dict[str, Any]],
        on_send: Callable[[], None],
        max_tokens: int,
        seconds: float | None = None,
    ) -> Completion:
        """Send a request in the model's dialect. If the endpoint refuses the dialect, retry in a simpler one."""
        while True:
            dialect = self.get_dialect(model)
            on_send()
            response = await self._send_request(
                "POST",
                self._chat,
                seconds or self._settings.request_timeout_seconds,
                to_json(body(dialect)),
                model=model,
            )
            try:
                completion = self._parse_completion(response)
            except PermanentLlmFailure as failure:
                adapted_dialect = dialect.adapt(failure, max_tokens, guess=model not in self._models_that_answered)
                if adapted_dialect is None:
                    raise (
                        failure.convert_to_question_failure() if model in self._models_that_answered else failure
                    ) from None
                # Another request in flight may have changed the dialect in the meantime.
                if self.get_dialect(model) == dialect:
                    self._dialects[model] = adapted_dialect
                    _LOG.info("model %s refused a request: %s; new dialect: %s", model, failure, adapted_dialect)
            else:
                self._models_that_answered.add(model)
                return completion

    def _parse_completion(self, response: HttpResponse) -> Completion:
        """Parse a response into a completion. Raises TransientLlmFailure or PermanentLlmFailure if it is none."""
        if response.status >= 400:
            body = _parse_body(response)
            rejected_generation = extract_rejected_generation(body)
            if rejected_generation is None:
                raise self._build_failure(response, body)
            return Completion(rejected_generation, "", "stop", None, None)
        try:
            return parse_completion(response.body, _find_charset(response))
        except UnusableResponse as unusable:
            failure: TransientLlmFailure | PermanentLlmFailure
            if unusable.error is None:
                failure = TransientLlmFailure(Fault(kind="server_error", detail=str(unusable)))
            else:  # a proxy that responded with 200 before its provider failed
                failure = self._build_failure(response, unusable.error)
            if isinstance(failure, TransientLlmFailure):
                failure.read_tokens = unusable.read_tokens
            raise failure from None

    async def _send_request(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str | URL,
        seconds: float,
        body: bytes | aiohttp.FormData | None = None,
        max_bytes: int | None = None,
        model: str = "",
    ) -> HttpResponse:
        url = self._build_url(path) if isinstance(path, str) else path
        request = HttpRequest(url, self._headers, seconds, max_bytes or MAX_BYTES, body, method, redirects=True)
        status = "none"
        try:
            response = await self._http.send(request)
            status = str(response.status)
            BYTES.labels("llm", model).inc(len(response.body))
        except HttpFailure as error:
            kind: FaultKind = "timeout" if error.kind == "timeout" else "connection"
            failure = TransientLlmFailure(Fault(kind=kind, detail=error.detail), is_overload=kind == "timeout")
            failure.read_tokens = ReadTokens() if error.was_sent else None
            raise failure from None
        finally:
            REQUESTS.labels("llm", model, status).inc()
        return response

    def _build_url(self, path: str) -> URL:
        """Append a path to the base URL, and return the result. Both the path's own query and the base URL's query are
        kept."""
        bare_path, _, query = path.partition("?")
        address = self._url.with_path(self._url.path.rstrip("/") + bare_path, keep_query=True)
        return address.extend_query(query) if query else address

    def _build_failure(self, response: HttpResponse, error: object) -> TransientLlmFailure | PermanentLlmFailure:
        """Return the failure that an error in a response indicates."""
        parsed = parse_error_body(error)
        secret = self._secret if len(self._secret) >= _MIN_SECRET_CHARS else ""  # a short key is a placeholder
        title = None if parsed.page_title is None else redact_secrets(parsed.page_title, secret)
        body = parsed._replace(message=redact_secrets(parsed.message, secret), page_title=title)
        headers = {**body.headers, **{name.lower(): value for name, value in response.headers.items()}}
        wait = find_retry_after(headers, self._clock.now())
        return build_failure(response.status if response.status >= 400 else 200, body, wait)


_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)


def _find_charset(response: HttpResponse) -> str:
    """Return the charset that a response states, or an empty string."""
    match = _CHARSET.search(response.headers.get("content-type", ""))
    return match[1] if match else ""


def _parse_body(response: HttpResponse) -> object:
    """Return a response's body: JSON, or text if it is none."""
    return parse_json(decode_text(response.body, _find_charset(response)))
