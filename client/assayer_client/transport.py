"""Convert calls to HTTP requests, and check their responses. No connection is opened here.

The API key is sent only to the configured address: requests are built only for it, redirects are not followed, netrc
files are ignored, and addresses with credentials are rejected."""

import datetime as dt
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
from pydantic import SecretStr

from assayer_client.errors import ApiProblem, ConfigurationError, InvalidRequest, ServiceUnreachable, build_problem
from assayer_client.requests import ApiCall, Response
from assayer_client.settings import DEFAULT_URL, Timeouts
from assayer_client.version import __version__


@dataclass(frozen=True)
class RequestBuilder:
    url: httpx2.URL
    key: SecretStr
    timeouts: Timeouts
    ids: Callable[[], str]
    now: Callable[[], dt.datetime]

    @classmethod
    def create(cls, url: str | None, key: str | None, timeouts: Timeouts) -> "RequestBuilder":
        """Create a builder; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. Raises ConfigurationError
        if either is missing or invalid."""
        address = url or os.environ.get("ASSAYER_API_URL") or DEFAULT_URL
        secret = key or os.environ.get("ASSAYER_API_KEY") or ""
        if not secret:
            raise ConfigurationError(
                "No API key is set.", "Set ASSAYER_API_KEY; create a key with `assayer admin keys create`."
            )
        if not (secret.isascii() and secret.isprintable() and " " not in secret):
            raise ConfigurationError("The API key contains invalid characters.", "Check that it was copied correctly.")
        return cls(
            _parse_address(address), SecretStr(secret), timeouts, lambda: str(uuid4()), lambda: dt.datetime.now(dt.UTC)
        )

    def choose_idempotency_key(self, call: ApiCall[Any]) -> str | None:
        """Return the idempotency key for all attempts of a POST, generated unless the call has one; None for other
        methods. Raises InvalidRequest if the call's own key is invalid."""
        if call.method != "POST":
            return None
        if call.key is None:
            return self.ids()
        if not _KEY.fullmatch(call.key):
            raise InvalidRequest("An idempotency key must be 1 to 255 visible ASCII characters, such as a UUID.")
        return call.key

    @contextmanager
    def request(self, call: ApiCall[Any], key: str | None) -> Iterator[httpx2.Request]:
        """Build a request. The call's files are open until the context ends."""
        headers = {**self._build_headers("application/json"), **call.headers}
        body: dict[str, Any] = {}
        with ExitStack() as stack:
            if key is not None:
                headers["Idempotency-Key"] = key
            if call.uploads:
                # Derived from the key, so that a repeated upload is byte-for-byte identical.
                boundary = hashlib.sha256((key or "").encode()).hexdigest()[:32]
                headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
                files = [
                    (upload.name, stack.enter_context(upload.open()), upload.media_type) for upload in call.uploads
                ]
                body["files"] = [("file", file) for file in files]
            elif (content := call.serialise_body()) is not None:
                headers["Content-Type"], body["content"] = content
            timeout = self._build_timeout(self.timeouts.answer + call.seconds)
            url, parameters = self._build_url(call.path), call.build_parameters()
            yield httpx2.Request(call.method, url, params=parameters, headers=headers, extensions=timeout, **body)

    def stream(self, path: str, last: int) -> httpx2.Request:
        """Build the request for the events after event number `last`."""
        headers = self._build_headers("text/event-stream") | ({"Last-Event-ID": str(last)} if last else {})
        return httpx2.Request(
            "GET", self._build_url(path), headers=headers, extensions=self._build_timeout(self.timeouts.silence)
        )

    def check_response(self, status: int, headers: httpx2.Headers, content: bytes) -> Response:
        """Return the response if it was successful. Raises ApiProblem otherwise."""
        response = Response(status, {name.lower(): value for name, value in headers.items()}, content)
        if not 200 <= status < 300:
            raise build_problem(*response, now=self.now())
        return response

    def convert_error(self, error: httpx2.RequestError | ApiProblem) -> ApiProblem | ServiceUnreachable:
        if isinstance(error, ApiProblem):
            return error
        reason = str(error).rstrip(".") or type(error).__name__
        return ServiceUnreachable(
            f"The service at {self.url} did not answer: {reason}.",
            "Check that it is running and that ASSAYER_API_URL is its URL.",
        )

    def _build_url(self, path: str) -> httpx2.URL:
        return self.url.copy_with(raw_path=(self.url.path.rstrip("/") + path).encode("ascii"))

    def _build_headers(self, accept: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.key.get_secret_value()}",
            "Accept": accept,
            "User-Agent": f"assayer-client/{__version__}",
        }

    def _build_timeout(self, seconds: float) -> dict[str, Any]:
        timeout = httpx2.Timeout(seconds, connect=self.timeouts.connect)
        return {"timeout": timeout.as_dict()}


_KEY = re.compile(r"[!-~]{1,255}")


def _parse_address(text: str) -> httpx2.URL:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"The URL of the service is invalid: {error}.", "Set ASSAYER_API_URL.") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ConfigurationError(
            f"{url.copy_with(username=None, password=None)} is not a valid service URL.",
            "Set ASSAYER_API_URL to http(s)://host:port, optionally followed by a path.",
        )
    return url
