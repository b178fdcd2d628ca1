"""Downloads from a hostile host: each trick ends in a typed failure within its limits."""

import asyncio
import hashlib
import resource
import ssl
import subprocess
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from prometheus_client import REGISTRY

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from cluster.clock import SystemClock
from simulator.outside.hostile import PDF
from simulator.outside.process import OutsideWorld
from tests.loopback import Outbound, loopback_only
from workers.fetching import DownloadLimits, FetchingSettings
from workers.fetching.downloader import Downloader
from workers.fetching.ssrf_guard import Address, AddressPolicy, make_guarded_connector

LIMITS = DownloadLimits(bytes=3_000_000, seconds=60)
HASTY = DownloadLimits(bytes=3_000_000, seconds=60, answer_seconds=1)
IMPATIENT = DownloadLimits(bytes=3_000_000, seconds=60, slowest=1_000, patience=1)
LOOPBACK = FetchingSettings(allow=("127.0.0.0/8",), redirects=5)


@pytest.fixture(autouse=True)
def outbound() -> Iterator[Outbound]:
    with loopback_only() as watched_outbound:
        yield watched_outbound
    assert watched_outbound.attempts == []


@pytest.fixture
async def downloader() -> AsyncIterator[Downloader]:
    async with Downloader(LOOPBACK, SystemClock()) as opened_downloader:
        yield opened_downloader


class Names:
    """Resolver that returns scripted answers for each name in order, then repeats the last."""

    def __init__(self, *answers: str) -> None:
        self._answers = [ip_address(answer) for answer in answers]
        self.asked: list[str] = []

    async def resolve(self, host: str) -> tuple[Address, ...]:
        self.asked.append(host)
        return (self._answers.pop(0) if len(self._answers) > 1 else self._answers[0],)


async def test_pdf_is_downloaded_to_its_file_after_redirect(
    world: OutsideWorld, downloader: Downloader, tmp_path: Path
) -> None:
    path = tmp_path / "paper.pdf"
    download = await downloader.to_file(world.url("hostile/redirect?to=honest.pdf"), path, {"pdf"}, LIMITS)
    assert path.read_bytes() == PDF
    assert download.sha256 == hashlib.sha256(PDF).hexdigest()
    assert (download.kind, download.size) == ("pdf", len(PDF))
    assert download.url == world.url("hostile/honest.pdf")


async def test_compressed_pdf_is_unpacked_before_hashing_and_counting(
    world: OutsideWorld, downloader: Downloader
) -> None:
    before = REGISTRY.get_sample_value("assayer_download_bytes_total") or 0
    download, body = await downloader.read(world.url("hostile/packed.pdf"), {"pdf"}, LIMITS)
    assert body == PDF * 1_000
    assert (download.size, download.sha256) == (len(body), hashlib.sha256(body).hexdigest())
    assert REGISTRY.get_sample_value("assayer_download_bytes_total") == before + len(body)


async def test_disk_write_failure_is_not_blamed_on_the_host(
    world: OutsideWorld, downloader: Downloader, tmp_path: Path
) -> None:
    path, limits = tmp_path / "paper.pdf", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(FullTextError, match="A download could not be written to disk: File too large") as failure:
            await downloader.to_file(world.url("hostile/packed.pdf"), path, {"pdf"}, LIMITS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert type(failure.value) is FullTextError
    assert not path.exists()


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("redirects/0", DownloadRefused, "redirected more than 5 times"),
        ("redirect?to=http://169.254.169.254/latest/meta-data/", AddressRefused, "169.254.169.254, which is not a"),
        ("redirect?to=http://[::1]/x", AddressRefused, "::1, which is not a public address"),
        ("redirect?to=http://0x7f.1/", AddressRefused, "is not a valid host name or IP address"),
        ("redirect?to=file:///etc/passwd", AddressRefused, "it has the scheme file:"),
        ("redirect?to=http://me:pw@127.0.0.1/", AddressRefused, "contains a user name"),
        ("redirect?to=http://[", AddressRefused, "redirected to an invalid URL"),
        ("nowhere", DownloadFailed, "redirected without giving a target URL"),
        ("endless", DownloadRefused, "larger than 3 MB"),
        ("five-gigabytes", DownloadRefused, "is 5,000.0 MB in size; the limit is 3 MB"),
        ("cut-short", DownloadFailed, "the body was cut off"),
        ("bomb", DownloadRefused, "larger than 3 MB after decompression"),
        ("broken-packing", DownloadFailed, "could not be decompressed"),
        ("unasked-packing", DownloadRefused, "has the content encoding 'gzip, gzip'"),
        ("picture", DownloadRefused, "is served as 'image/png', not as a PDF"),
        ("login.pdf", DownloadRefused, "is an HTML page, not a PDF"),
        ("empty", DownloadRefused, "its file signature .* is unknown"),
        ("long-header", DownloadFailed, "could not be fetched"),
        ("status/404", DownloadFailed, "returned status 404"),
        ("status/206", DownloadFailed, "returned status 206"),
        ("status/503", DownloadFailed, "returned status 503"),
        ("silent", DownloadFailed, "did not answer within 1 s"),
        ("stalled", DownloadRefused, "less than 1,000 bytes per second over 1 s"),
        ("dripping", DownloadRefused, "less than 1,000 bytes per second over 1 s"),
        ("bursting", DownloadRefused, "less than 1,000 bytes per second over 1 s"),
    ],
)
async def test_hostile_response_raises_typed_failure_and_writes_nothing(
    world: OutsideWorld, downloader: Downloader, tmp_path: Path, path: str, error: type[FullTextError], says: str
) -> None:
    target = tmp_path / "paper.pdf"
    limits = {"silent": HASTY, "stalled": IMPATIENT, "dripping": IMPATIENT, "bursting": IMPATIENT}.get(path, LIMITS)
    with pytest.raises(error, match=says) as failure:
        await downloader.to_file(world.url(f"hostile/{path}"), target, {"pdf"}, limits)
    assert type(failure.value) is error
    assert not target.exists()


async def test_host_sending_headers_slowly_times_out(downloader: Downloader) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        with suppress(ConnectionError), closing(writer):
            while not reader.at_eof():
                writer.write(b"X: y\r\n")
                await writer.drain()
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(100), 0.1)

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(DownloadFailed, match="did not answer within 1 s"):
            await downloader.read(f"http://127.0.0.1:{port}/x.pdf", {"pdf"}, HASTY)


async def test_redirect_limit_bounds_the_number_of_requests(world: OutsideWorld, downloader: Downloader) -> None:
    with pytest.raises(DownloadRefused):
        await downloader.read(world.url("hostile/redirects/0"), {"pdf"}, LIMITS)
    assert world.read_stats("hostile").requests == LOOPBACK.redirects + 1


async def test_body_of_a_redirect_is_not_read(world: OutsideWorld, downloader: Downloader) -> None:
    download, body = await downloader.read(world.url("hostile/endless-redirect"), {"pdf"}, LIMITS)
    assert (download.url, body) == (world.url("hostile/honest.pdf"), PDF)


async def test_total_time_limit_ends_a_steadily_slow_body(world: OutsideWorld, downloader: Downloader) -> None:
    limits = DownloadLimits(seconds=0.5, slowest=0, patience=5)
    with pytest.raises(DownloadRefused, match=r"exceeded the limit of 0\.5 s"):
        await downloader.read(world.url("hostile/dripping"), {"pdf"}, limits)


async def test_decompression_bomb_is_rejected_before_memory_fills(world: OutsideWorld, downloader: Downloader) -> None:
    tracemalloc.start()
    with pytest.raises(DownloadRefused):
        await downloader.read(world.url("hostile/bomb"), {"pdf"}, LIMITS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16_000_000, f"{peak:,} bytes"


async def test_loopback_is_refused_without_a_request_when_nothing_is_allowed(world: OutsideWorld) -> None:
    async with Downloader(FetchingSettings(), SystemClock()) as strict:
        for url in (world.url("hostile/honest.pdf"), world.base_url.replace("127.0.0.1", "localhost") + "/hostile/x"):
            with pytest.raises(AddressRefused, match=r"127\.0\.0\.1|::1"):
                await strict.read(url, {"pdf"}, LIMITS)
    assert world.read_stats("hostile").requests == 0


async def test_connection_uses_checked_address_despite_later_dns_changes(world: OutsideWorld) -> None:
    """The second answer would be refused; it is asked for only by the second connection."""
    names = Names("127.0.0.1", "10.0.0.1")
    port = world.base_url.rsplit(":", 1)[1]
    async with Downloader(LOOPBACK, SystemClock(), names) as pinned:
        download, _ = await pinned.read(f"http://paper.example:{port}/hostile/honest.pdf", {"pdf"}, LIMITS)
        assert download.url == f"http://paper.example:{port}/hostile/honest.pdf"
        assert names.asked == ["paper.example"]
    async with Downloader(LOOPBACK, SystemClock(), names) as later_downloader:
        with pytest.raises(AddressRefused, match=r"paper\.example resolves to 10\.0\.0\.1"):
            await later_downloader.read(f"http://paper.example:{port}/hostile/honest.pdf", {"pdf"}, LIMITS)


async def test_redirect_to_a_private_address_is_rejected(world: OutsideWorld) -> None:
    """Public first, private then: the redirect's host is looked up and judged anew."""
    port = world.base_url.rsplit(":", 1)[1]
    names = Names("127.0.0.1", "169.254.169.254")
    async with Downloader(LOOPBACK, SystemClock(), names) as downloader:
        with pytest.raises(AddressRefused, match=r"other\.example resolves to 169\.254\.169\.254"):
            await downloader.read(
                f"http://paper.example:{port}/hostile/redirect?to=http://other.example:{port}/", {"pdf"}, LIMITS
            )


async def test_public_name_with_one_private_address_is_refused() -> None:
    class Both:
        async def resolve(self, host: str) -> tuple[Address, ...]:
            return ip_address("8.8.8.8"), ip_address("127.0.0.1")

    async with Downloader(FetchingSettings(), SystemClock(), Both()) as downloader:
        with pytest.raises(AddressRefused, match=r"127\.0\.0\.1, which is not a public address"):
            await downloader.read("https://paper.example/x.pdf", {"pdf"}, LIMITS)


async def test_connector_rejects_private_addresses_not_checked_before() -> None:
    """A literal address asks no resolver; whoever forgets to check the URL still opens no socket."""
    policy = AddressPolicy.from_settings(FetchingSettings())
    async with ClientSession(connector=make_guarded_connector(policy, Names("8.8.8.8"))) as session:
        for url in ("http://10.0.0.1/", "http://[::1]/", "http://127.0.0.1:8080/"):
            with pytest.raises(AddressRefused, match="A host resolves to"):
                await session.get(url)


async def test_unknown_name_is_a_failed_download() -> None:
    class Nobody:
        async def resolve(self, host: str) -> tuple[Address, ...]:
            raise OSError(-2, "Name or service not known")

    async with Downloader(FetchingSettings(), SystemClock(), Nobody()) as downloader:
        with pytest.raises(DownloadFailed, match="Name or service not known"):
            await downloader.read("https://paper.example/x.pdf", {"pdf"}, LIMITS)


async def test_errors_omit_the_query_string(world: OutsideWorld, downloader: Downloader) -> None:
    for path in ("status/403", "long-header", "cut-short", "login.pdf"):
        with pytest.raises(FullTextError) as failure:
            await downloader.read(world.url(f"hostile/{path}?signature=secret"), {"pdf"}, LIMITS)
        assert "secret" not in str(failure.value)


async def test_concurrent_requests_per_host_are_limited(world: OutsideWorld, downloader: Downloader) -> None:
    world.configure("hostile", latency_mean=0.05)
    reads = (downloader.read(world.url("hostile/honest.pdf"), {"pdf"}, LIMITS) for _ in range(12))
    assert len(await asyncio.gather(*reads)) == 12
    assert world.read_stats("hostile").peak_concurrency <= LOOPBACK.connections_per_host


@pytest.fixture
def self_signed_certificate(tmp_path: Path) -> ssl.SSLContext:
    """Self-signed certificate for localhost, stored in cert.pem."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


@pytest.fixture
async def self_signed_server(self_signed_certificate: ssl.SSLContext) -> AsyncIterator[TestServer]:
    """An HTTPS server with that certificate."""

    async def pdf(request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf")

    app = web.Application()
    app.add_routes([web.get("/x.pdf", pdf)])
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=self_signed_certificate)
    yield server
    await server.close()


async def test_untrusted_certificate_is_rejected(self_signed_server: TestServer, tmp_path: Path) -> None:
    url = f"https://localhost:{self_signed_server.port}/x.pdf"
    async with Downloader(LOOPBACK, SystemClock(), Names("127.0.0.1")) as downloader:
        with pytest.raises(DownloadFailed, match="certificate is not valid"):
            await downloader.read(url, {"pdf"}, LIMITS)
    known = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    async with Downloader(LOOPBACK, SystemClock(), Names("127.0.0.1"), known) as downloader:
        _, body = await downloader.read(url, {"pdf"}, LIMITS)
        assert body == PDF
        with pytest.raises(DownloadFailed, match="certificate is not valid"):
            await downloader.read(url.replace("localhost", "other.example"), {"pdf"}, LIMITS)
