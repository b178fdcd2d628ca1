"""Transfers of large files from a server on loopback: gone on with, checked, and shown no more than they may see."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from assayer.errors import AddressRefused, SourceRefused, SourceUnavailable
from cluster.clock import SystemClock
from workers.fetching.resumable_downloads import ResumableDownloader
from workers.fetching.settings import FetchingSettings, TransferSettings

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]
BODY = bytes(range(256)) * 16_384
"""Larger than what a client holds unread: of a connection that breaks, that much may be lost."""


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """A server with one handler for all paths; its base URL."""
    runners: list[web.AppRunner] = []

    async def start(handler: Handler) -> str:
        application = web.Application()
        application.router.add_get("/{path:.*}", handler)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        return f"http://{host}:{port}"

    yield start
    for runner in runners:
        await runner.cleanup()


def _create_downloader(allow: tuple[str, ...] = ("127.0.0.0/8",), **limits: object) -> ResumableDownloader:
    settings = TransferSettings.model_validate({"backoff_initial": 0.0, "attempts": 3} | limits)
    return ResumableDownloader(FetchingSettings(allow=allow), settings, SystemClock())


class Store:
    """Breaks every delivery off after some bytes; the body may be exchanged meanwhile."""

    def __init__(self, tag: str = '"one"', piece: int = 1_500_000) -> None:
        self.body, self.tag, self.piece = BODY, tag, piece
        self.begins: list[int] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        requested_range = request.headers.get("Range", "bytes=0-")
        fits = request.headers.get("If-Range", self.tag) == self.tag
        begin = int(requested_range.removeprefix("bytes=").removesuffix("-")) if fits else 0
        self.begins.append(begin)
        headers = {"Content-Length": str(len(self.body) - begin), **({"ETag": self.tag} if self.tag else {})}
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(self.body) - 1}/{len(self.body)}"
        response = web.StreamResponse(status=206 if begin else 200, headers=headers)
        await response.prepare(request)
        end = begin + self.piece
        await response.write(self.body[begin:end])
        if end < len(self.body) and request.transport is not None:
            request.transport.close()
        return response


async def test_repeatedly_interrupted_download_is_completed_in_pieces(serve: Serve, tmp_path: Path) -> None:
    store = Store()
    url = await serve(store.answer)
    async with _create_downloader(attempts=1) as transfers:
        assert await transfers.save(f"{url}/file", tmp_path / "file", len(BODY)) == "whole"
    assert (tmp_path / "file").read_bytes() == BODY
    assert store.begins[0] == 0
    assert store.begins == sorted(set(store.begins)), "nothing is fetched twice"


async def test_download_interrupted_by_a_killed_run_is_resumed(serve: Serve, tmp_path: Path) -> None:
    store = Store(piece=len(BODY))
    (tmp_path / "file").write_bytes(BODY[:1234])
    (tmp_path / "file.etag").write_text(store.tag)
    async with _create_downloader() as transfers:
        await transfers.save(f"{await serve(store.answer)}/file", tmp_path / "file")
    assert store.begins == [1234]
    assert (tmp_path / "file").read_bytes() == BODY
    assert not (tmp_path / "file.etag").exists()


async def test_unresumable_download_fails_after_repeated_restarts(serve: Serve, tmp_path: Path) -> None:
    store = Store(tag="")
    base = await serve(store.answer)
    async with _create_downloader() as transfers:
        with pytest.raises(SourceUnavailable, match="3 times in a row"):
            await transfers.save(f"{base}/file", tmp_path / "file")
    assert store.begins == [0, 0, 0]


async def test_mismatched_partial_response_is_not_appended(serve: Serve, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        headers = {"ETag": '"one"'}
        if "Range" not in request.headers:
            return web.Response(body=BODY, headers=headers)
        headers["Content-Range"] = f"bytes 7-{len(BODY) - 1}/{len(BODY)}"
        return web.Response(status=206, body=BODY[7:], headers=headers)

    (tmp_path / "file").write_bytes(BODY[:1000])
    (tmp_path / "file.etag").write_text('"one"')
    base = await serve(answer)
    async with _create_downloader() as transfers:
        assert await transfers.save(f"{base}/file", tmp_path / "file") == "whole"
    assert (tmp_path / "file").read_bytes() == BODY


async def test_file_changed_on_the_server_is_downloaded_again(serve: Serve, tmp_path: Path) -> None:
    store = Store('"two"', piece=len(BODY))
    (tmp_path / "file").write_bytes(b"of another time")
    (tmp_path / "file.etag").write_text('"one"')
    async with _create_downloader() as transfers:
        await transfers.save(f"{await serve(store.answer)}/file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY


async def test_a_file_of_another_size_than_announced_is_refused_and_removed(serve: Serve, tmp_path: Path) -> None:
    url = await serve(Store(piece=len(BODY)).answer)
    async with _create_downloader() as transfers:
        with pytest.raises(SourceRefused, match="instead of the expected"):
            await transfers.save(f"{url}/file", tmp_path / "file", len(BODY) + 1)
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("status", [400, 403, 404, 410])
async def test_expired_download_address_is_rejected_without_retry(serve: Serve, tmp_path: Path, status: int) -> None:
    requested_ranges: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        requested_ranges.append(request.path)
        return web.Response(status=status)

    url = await serve(handler)
    async with _create_downloader() as transfers:
        assert await transfers.save(f"{url}/file", tmp_path / "file") == "refused"
    assert len(requested_ranges) == 1


async def test_a_server_that_stays_busy_is_given_up_after_the_last_attempt(serve: Serve, tmp_path: Path) -> None:
    requested_paths: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        requested_paths.append(request.path)
        return web.Response(status=503, headers={"Retry-After": "0"})

    url = await serve(handler)
    async with _create_downloader() as transfers:
        with pytest.raises(SourceUnavailable, match="returned status 503, 3 times"):
            await transfers.save(f"{url}/file", tmp_path / "file")
    assert len(requested_paths) == 3


async def test_retry_after_delay_is_respected(serve: Serve) -> None:
    answers = iter([web.Response(status=429, headers={"Retry-After": "7"}), web.Response(body=b"done")])

    async def handler(_: web.Request) -> web.Response:
        return next(answers)

    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    settings = TransferSettings(backoff_initial=0.5)
    async with ResumableDownloader(
        FetchingSettings(allow=("127.0.0.0/8",)), settings, SystemClock(), sleep=sleep
    ) as transfers:
        assert await transfers.read(f"{await serve(handler)}/") == b"done"
    assert waits == [7.0]


async def test_silent_server_times_out(serve: Serve, tmp_path: Path) -> None:
    silence_end = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "10"})
        await response.prepare(request)
        await silence_end.wait()
        return response

    url = await serve(handler)
    async with _create_downloader(patience=0.05, attempts=2) as transfers:
        with pytest.raises(SourceUnavailable, match="no response in time"):
            await transfers.save(f"{url}/file", tmp_path / "file")
    silence_end.set()


async def test_an_answer_that_is_too_large_is_refused(serve: Serve) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=BODY)

    url = await serve(handler)
    async with _create_downloader(answer_bytes=1000) as transfers:
        with pytest.raises(SourceRefused, match="more than 1,000 bytes"):
            await transfers.read(f"{url}/")


async def test_api_key_is_not_sent_to_redirect_hosts(serve: Serve) -> None:
    received_keys: list[str | None] = []

    async def answer_done(request: web.Request) -> web.Response:
        received_keys.append(request.headers.get("x-api-key"))
        return web.Response(body=b"done")

    other_address = await serve(answer_done)

    async def redirect(request: web.Request) -> web.Response:
        received_keys.append(request.headers.get("x-api-key"))
        raise web.HTTPFound(f"{other_address}/")

    url = await serve(redirect)
    async with _create_downloader() as transfers:
        assert await transfers.read(f"{url}/", "secret") == b"done"
    assert received_keys == ["secret", None]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://example.org/x", "file:///etc/passwd"])
async def test_private_and_unencrypted_addresses_are_rejected(tmp_path: Path, url: str) -> None:
    async with _create_downloader(allow=()) as transfers:
        with pytest.raises(AddressRefused):
            await transfers.save(url, tmp_path / "file")


async def test_a_redirect_into_a_private_network_is_not_followed(serve: Serve) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise web.HTTPFound("http://10.0.0.1/secret")

    url = await serve(handler)
    async with _create_downloader(allow=("127.0.0.1/32",)) as transfers:
        with pytest.raises(AddressRefused):
            await transfers.read(f"{url}/")


async def test_every_retry_of_a_dead_source_is_logged(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def answer_unavailable(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    url = await serve(answer_unavailable)
    async with _create_downloader() as transfers:
        with pytest.raises(SourceUnavailable):
            await transfers.read(f"{url}/list")
    messages = [record.getMessage() for record in caplog.records]
    assert [text.partition("Trying again")[2] for text in messages] == [
        " in 0 s (attempt 2 of 3).",
        " in 0 s (attempt 3 of 3).",
    ]
    assert "503" in messages[0]
