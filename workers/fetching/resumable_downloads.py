"""Download large files, resuming after interruptions, and read small responses, from services that the operator named.

`workers.fetching.downloader` serves small downloads, such as pages and PDFs, whose URLs come from data. Files here can
be gigabytes in size. Requests are retried with backoff, or after the wait that a busy service requests."""

import asyncio
import datetime as dt
import errno
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Literal, TypeVar

from aiohttp import ClientError, ClientResponse
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from yarl import URL

from assayer.errors import AddressRefused, InputError, SourceRefused, SourceUnavailable
from assayer.ports import Clock
from workers.fetching.downloader import describe_network_error
from workers.fetching.settings import FetchingSettings, TransferSettings
from workers.fetching.ssrf_guard import AddressPolicy, GuardedClient, HostResolver, make_loggable
from workers.outbound.http import find_retry_after
from workers.outbound.source_pace import Pacer

_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_CHUNK_BYTES = 1_048_576
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_EXPIRED_STATUSES = frozenset({400, 401, 403, 404, 410})
"""Statuses that object stores return for an expired signed URL."""


class _TransientFailure(Exception):
    """Failure after which the request may be retried, but not before `retry_after` seconds (None: at any time)."""

    def __init__(self, problem: str, retry_after: float | None = None) -> None:
        super().__init__(problem, retry_after)
        self.problem = problem
        self.retry_after = retry_after


class _PartReceived(Exception):
    """Interruption of a download after part of the file was received. The download can resume from there."""


class ResumableDownloader(GuardedClient):
    """Downloader that resumes after interruptions. Use it as an async context manager. Raises AddressRefused if an
    address is not allowed, SourceUnavailable if all attempts fail, and SourceRefused if the response is not
    acceptable."""

    def __init__(
        self,
        fetching: FetchingSettings,
        settings: TransferSettings,
        clock: Clock,
        resolver: HostResolver | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        pace: Pacer | None = None,
    ) -> None:
        self._fetching = fetching
        self._settings = settings
        self._clock = clock
        headers = {"User-Agent": fetching.user_agent, "Accept-Encoding": "identity"}
        super().__init__(AddressPolicy.from_settings(fetching), resolver, headers, auto_decompress=False)
        self._sleep = sleep
        self._pace = pace
        self._read_lock = asyncio.Lock()
        self._last_read_at = -math.inf

    async def read(self, url: str, key: str = "") -> bytes:
        """Return the body of a small response. `key` is sent only to the host of `url`."""
        return await self._retry(url, partial(self._read, url, key))

    async def save(self, url: str, path: Path, size: int | None = None) -> Literal["whole", "refused"]:
        """Save a large file, resuming from a partial file at `path` if the server still has the same version. Returns
        `refused` if the URL has expired. Raises SourceRefused if the file's size in bytes is not the expected
        `size`."""
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        try:
            async with asyncio.timeout(self._settings.file_seconds):
                outcome = await self._download_resuming(url, path)
        except TimeoutError:
            raise SourceUnavailable(
                f"The download of {make_loggable(url)} was stopped: it exceeded the limit of "
                f"{self._settings.file_seconds:g} s.",
                "Run the command again; the download continues where it stopped.",
            ) from None
        if outcome == "whole" and size is not None:
            await asyncio.to_thread(_check_size, url, path, size)
        return outcome

    async def _download_resuming(self, url: str, path: Path) -> Literal["whole", "refused"]:
        while True:
            with suppress(_PartReceived):
                return await self._retry(url, partial(self._download_part, url, path))

    async def _retry(self, url: str, attempt: Callable[[], Awaitable[_Result]]) -> _Result:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_TransientFailure),
            wait=self._compute_wait,
            stop=stop_after_attempt(self._settings.attempts),
            sleep=self._sleep,
            before_sleep=partial(self._log_retry, url),
            reraise=True,
        )
        try:
            return await retrying(attempt)
        except _TransientFailure as failure:
            raise SourceUnavailable(
                f"{make_loggable(url)} {failure.problem}, {self._settings.attempts} times in a row.",
                "Run the command again later; the download continues where it stopped.",
            ) from None

    def _log_retry(self, url: str, state: RetryCallState) -> None:
        """Log why a request is repeated, because all attempts together may take minutes."""
        failure = state.outcome.exception() if state.outcome else None
        problem = failure.problem if isinstance(failure, _TransientFailure) else failure
        _LOG.warning(
            "%s %s. Trying again in %.0f s (attempt %d of %d).",
            make_loggable(url),
            problem,
            state.upcoming_sleep,
            state.attempt_number + 1,
            self._settings.attempts,
        )

    def _compute_wait(self, state: RetryCallState) -> float:
        """Return the wait before the next attempt: twice the previous wait, or as long as the service requests."""
        settings = self._settings
        pause = min(settings.backoff_initial * 2.0 ** (state.attempt_number - 1), settings.backoff_max)
        failure = state.outcome.exception() if state.outcome else None
        requested_seconds = failure.retry_after if isinstance(failure, _TransientFailure) else None
        return pause if requested_seconds is None else min(max(requested_seconds, pause), settings.retry_after_max)

    async def _read(self, url: str, key: str) -> bytes:
        limit = self._settings.answer_bytes
        async with self._read_lock:
            pause = self._last_read_at + self._settings.spacing - self._clock.monotonic()
            if pause > 0:
                await self._sleep(pause)
            try:
                async with (
                    nullcontext() if self._pace is None else self._pace.take_turn(),
                    asyncio.timeout(self._settings.answer_seconds),
                    self._open_response(url, {}, key) as response,
                ):
                    _check_status(response, url, self._clock.now())
                    body = await response.content.read(limit + 1)
                    while len(body) <= limit and (piece := await response.content.read(limit + 1 - len(body))):
                        body += piece
            except (ClientError, OSError) as error:
                raise _TransientFailure(f"could not be read: {_describe_error(error)}") from None
            finally:
                self._last_read_at = self._clock.monotonic()
        if len(body) > limit:
            raise SourceRefused(f"{make_loggable(url)} has more than {limit:,} bytes.")
        return body

    async def _download_part(self, url: str, path: Path) -> Literal["whole", "refused"]:
        tag_file = path.with_name(path.name + ".etag")
        bytes_present, tag = await asyncio.to_thread(_find_partial_download, path, tag_file)
        headers = {"Range": f"bytes={bytes_present}-", "If-Range": tag} if bytes_present else {}
        has_grown = False
        try:
            async with self._open_response(url, headers) as response:
                if response.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and bytes_present:
                    return await _check_complete(response, bytes_present, path, tag_file)
                if response.status in _EXPIRED_STATUSES:
                    return "refused"
                _check_status(response, url, self._clock.now())
                is_continuation = response.status == HTTPStatus.PARTIAL_CONTENT and _is_continuation(
                    response, bytes_present, tag
                )
                if not is_continuation:  # delete the old part first: the new tag would appear to belong to it
                    await asyncio.to_thread(path.unlink, missing_ok=True)
                if response.status == HTTPStatus.PARTIAL_CONTENT and not is_continuation:
                    raise _TransientFailure("changed during the download")
                tag = response.headers.get("ETag", tag if is_continuation else "")
                await asyncio.to_thread(tag_file.write_text, tag, "utf-8")
                with path.open("ab" if is_continuation else "wb") as file:
                    while piece := await self._read_next_chunk(response):
                        await asyncio.to_thread(file.write, piece)
                        has_grown = _is_strong_etag(tag)
                        if file.tell() > self._settings.file_bytes:
                            raise SourceRefused(
                                f"{make_loggable(url)} has more than {self._settings.file_bytes:,} bytes."
                            )
        except (ClientError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise InputError(
                    f"The disk of {path} is full.",
                    "Free some space and run the command again; the download continues where it stopped.",
                ) from None
            raise (
                _PartReceived() if has_grown else _TransientFailure(f"was cut off: {_describe_error(error)}")
            ) from None
        await asyncio.to_thread(tag_file.unlink)
        return "whole"

    async def _read_next_chunk(self, response: ClientResponse) -> bytes:
        async with asyncio.timeout(self._settings.patience):
            return await response.content.read(_CHUNK_BYTES)

    @asynccontextmanager
    async def _open_response(
        self, url: str, headers: Mapping[str, str], key: str = ""
    ) -> AsyncIterator[ClientResponse]:
        """Yield the response after following redirects, each of which is checked. The key is sent only to the first
        host."""
        target = first_url = self._check_url(url)
        for _ in range(self._fetching.redirects + 1):
            key_headers = {"x-api-key": key} if key and target.origin() == first_url.origin() else {}
            async with asyncio.timeout(self._settings.answer_seconds):
                response = await self._session.get(target, allow_redirects=False, headers={**headers, **key_headers})
            async with response:
                if response.status not in _REDIRECT_STATUSES:
                    yield response
                    return
                target = self._check_url(str(target.join(URL(response.headers.get("Location", "")))))
        raise SourceRefused(f"{make_loggable(url)} redirected more than {self._fetching.redirects} times.")

    def _check_url(self, text: str) -> URL:
        """Validate the URL and return it. It must use HTTPS unless its host is on a network that the operator has
        allowed."""
        url = self._policy.check_url(text)
        if url.scheme != "https" and not self._policy.is_allowed_network(url.raw_host or ""):
            raise AddressRefused(f"{make_loggable(url)} does not use HTTPS.", "Use a URL that begins with https://.")
        return url


def _check_status(response: ClientResponse, url: str, now: dt.datetime) -> None:
    if response.status in _TRANSIENT_STATUSES:
        raise _TransientFailure(f"returned status {response.status}", find_retry_after(response.headers, now))
    if response.status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
        hint = "Check the API key." if response.status in {401, 403} else ""
        raise SourceRefused(f"{make_loggable(url)} returned status {response.status}.", hint)


def _check_size(url: str, path: Path, size: int) -> None:
    bytes_present = path.stat().st_size
    if bytes_present != size:
        path.unlink()
        raise SourceRefused(f"{make_loggable(url)} has {bytes_present:,} bytes instead of the expected {size:,}.")


def _find_partial_download(path: Path, tag_file: Path) -> tuple[int, str]:
    """Return the number of bytes saved by an interrupted attempt, and their ETag; 0 and an empty string if there are
    none or their ETag is missing or weak."""
    if not path.exists() or not tag_file.exists():
        return 0, ""
    tag = tag_file.read_text("utf-8")
    return (path.stat().st_size, tag) if _is_strong_etag(tag) else (0, "")


def _is_strong_etag(tag: str) -> bool:
    """Return whether the ETag is strong, that is, whether files with the same ETag are byte-for-byte identical."""
    return bool(tag) and not tag.startswith("W/")


def _is_continuation(response: ClientResponse, bytes_present: int, tag: str) -> bool:
    range_start = response.headers.get("Content-Range", "").partition("-")[0]
    return range_start == f"bytes {bytes_present}" and response.headers.get("ETag", tag) == tag


async def _check_complete(response: ClientResponse, bytes_present: int, path: Path, tag_file: Path) -> Literal["whole"]:
    """Handle a 416 response to a range request. If the file on disk is complete, return; otherwise, delete it and raise
    _TransientFailure."""
    total_bytes = response.headers.get("Content-Range", "").rpartition("/")[2]
    if total_bytes == str(bytes_present):
        await asyncio.to_thread(tag_file.unlink)
        return "whole"
    await asyncio.to_thread(path.unlink)
    raise _TransientFailure("changed during the download")


def _describe_error(error: ClientError | OSError) -> str:
    return "no response in time" if isinstance(error, TimeoutError) else describe_network_error(error)
