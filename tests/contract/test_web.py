"""Web search and page reading, against the simulated world."""

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from assayer.errors import AddressRefused, DownloadRefused, SourceMalformed, SourceRefused, Unreadable
from assayer.models import OPEN, Absent, WebPage, Window
from cluster.clock import SystemClock
from simulator.outside.library import Library
from simulator.outside.pages import HIDDEN_ORDER
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from tests.contract.small_source_gateway import create_in_memory_gateway
from workers.fetching import DownloadLimits, FetchingSettings
from workers.fetching.downloader import Downloader
from workers.file_cache import FileCache
from workers.file_storage import FileStorage
from workers.outbound.source_requests import RequestContext
from workers.outbound.source_settings import WebSettings
from workers.web import PageSettings
from workers.web.adapter import WebAdapter
from workers.web.page_reader import PageReader
from workers.web.search import WebSearch

ASK = RequestContext("evaluation", 30.0)
KNOWN = Library(SAMPLE)
CLOCK = SystemClock()
LOOPBACK = FetchingSettings(allow=("127.0.0.0/8",))
QUERY = "graph neural networks, sparse attention, diffusion models and knowledge distillation"
SHORT = DownloadLimits(bytes=3_000_000, seconds=60)


@pytest.fixture
async def search(world: OutsideWorld) -> AsyncIterator[WebSearch]:
    settings = WebSettings.model_validate({"base_url": world.url("serper"), "spacing_seconds": 0.0, "api_key": "right"})
    async with create_in_memory_gateway({"web": settings}) as gateway:
        yield WebSearch(gateway)


@pytest.fixture
async def reader(world: OutsideWorld) -> AsyncIterator[PageReader]:
    async with Downloader(LOOPBACK, CLOCK) as downloader:
        yield PageReader(downloader, PageSettings(download=SHORT), CLOCK)


async def test_search_returns_pages_with_known_publication_dates(world: OutsideWorld, search: WebSearch) -> None:
    results = await search.search(QUERY, 25, Window(), ASK)
    assert len(results) == 25
    assert len({result.url for result in results}) == 25
    assert world.read_stats("web").requests == 3
    by_url = {world.url(f"pages/paper/{entry.record.id}"): entry for entry in KNOWN.entries}
    for result in results:
        entry = by_url[result.url]
        assert result.title == entry.record.title
        assert result.published == (entry.record.publication_date if entry.is_day_known else None)
    assert {result.published is None for result in results} == {True, False}


async def test_search_respects_date_window(search: WebSearch) -> None:
    window = Window(after=dt.date(2015, 1, 1), before=dt.date(2018, 12, 31))
    results = await search.search("learning", 40, window, ASK)
    assert results
    assert all(result.published is None or window.after <= result.published <= window.before for result in results)  # type: ignore[operator]


async def test_search_without_results_stops_after_first_request(world: OutsideWorld, search: WebSearch) -> None:
    assert await search.search("zzzz qqqq", 50, Window(), ASK) == []
    assert world.read_stats("web").requests == 1


async def test_rejected_key_and_malformed_answer_raise_and_are_not_cached(
    world: OutsideWorld, search: WebSearch
) -> None:
    world.configure("web", api_key="other")
    with pytest.raises(SourceRefused):
        await search.search("learning", 5, Window(), ASK)
    world.configure("web", api_key=None, malformed_rate=1.0)
    with pytest.raises(SourceMalformed):
        await search.search("attention", 5, Window(), ASK)
    world.configure("web", malformed_rate=0.0)
    assert await search.search("attention", 5, Window(), ASK)


async def test_page_text_title_and_date_are_extracted(world: OutsideWorld, reader: PageReader) -> None:
    entry = KNOWN.entries[5]
    page = await reader.read(world.url(f"pages/paper/{entry.record.id}"))
    assert page.title == entry.record.title
    assert entry.record.abstract in page.text
    assert "Imprint" not in page.text
    assert page.published == entry.date
    assert page.flags == ()


@pytest.mark.parametrize("way", ["colour", "sheet", "comment"])
async def test_hidden_instruction_in_page_is_removed_and_flagged(
    world: OutsideWorld, reader: PageReader, way: str
) -> None:
    page = await reader.read(world.url(f"pages/hiding/{way}"))
    assert HIDDEN_ORDER not in page.text
    assert KNOWN.entries[0].record.abstract in page.text
    assert [flag.kind for flag in page.flags] == ["hidden_text", "suspected_injection"]
    assert all(HIDDEN_ORDER in flag.excerpt for flag in page.flags)


async def test_plain_text_page_is_read_and_injected_instructions_are_flagged(
    world: OutsideWorld, reader: PageReader
) -> None:
    page = await reader.read(world.url("pages/plain.txt"))
    assert page.text.startswith("Notes on reefs.")
    assert {flag.kind for flag in page.flags} == {"suspected_injection"}
    assert page.published is None


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("pages/empty", Unreadable, "contains no article"),
        ("hostile/honest.pdf", DownloadRefused, "served as 'application/pdf'"),
        ("hostile/redirect?to=http://10.0.0.1/", AddressRefused, "not a public address"),
    ],
)
async def test_empty_page_pdf_file_and_private_address_are_each_rejected_with_their_own_error(
    world: OutsideWorld, reader: PageReader, path: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        await reader.read(world.url(path))


async def test_deeply_nested_page_is_read_to_parser_depth_limit(world: OutsideWorld, reader: PageReader) -> None:
    page = await reader.read(world.url("pages/deep"))
    assert page.text.endswith("Deep")


@pytest.mark.parametrize(
    ("limits", "causes"),
    [
        ({"characters": 50}, {"too_much_text"}),
        ({"wall_seconds": 0.01}, {"time"}),
        ({"memory_bytes": 30_000_000}, {"memory", "broken_parser"}),
    ],
)
async def test_page_reader_over_its_limit_is_stopped(
    world: OutsideWorld, limits: dict[str, float], causes: set[str]
) -> None:
    settings = PageSettings.model_validate({"download": SHORT, **limits})
    async with Downloader(LOOPBACK, CLOCK) as downloader:
        with pytest.raises(Unreadable) as failure:
            await PageReader(downloader, settings, CLOCK).read(world.url("pages/hiding/display"))
    assert failure.value.cause in causes


async def test_failed_page_is_reported_and_all_results_are_cached(
    world: OutsideWorld, search: WebSearch, reader: PageReader, tmp_path: Path
) -> None:
    page_cache = FileCache(
        FileStorage(str(tmp_path)), "pages", WebPage, CLOCK, dt.timedelta(days=1), dt.timedelta(days=1)
    )
    bound = WebAdapter(search, reader, page_cache, ASK)
    good, bad = world.url(f"pages/paper/{KNOWN.entries[0].record.id}"), "http://10.0.0.1/"
    pages = await bound.read([good, bad, good])
    assert list(pages) == [good, bad]
    assert isinstance(pages[good], WebPage)
    assert pages[bad] == Absent(reason="a URL was refused")
    served = world.read_stats("pages")
    assert await WebAdapter(search, reader, page_cache, ASK).read([good, bad]) == pages
    assert world.read_stats("pages") == served
    first, second = await bound.search(["attention", "zzzz"], 3, OPEN)
    assert (len(first), second) == (3, [])


class RobotsHost:
    """A host whose robots.txt says so, or answers with that status."""

    def __init__(self) -> None:
        self.robots: str | int = ""
        self.asked: list[str] = []
        app = web.Application()
        app.add_routes([web.get("/robots.txt", self._send_robots), web.get("/{path:.*}", self._send_page)])
        self.server = TestServer(app)

    def get_url(self, path: str) -> str:
        return str(self.server.make_url(path))

    async def _send_robots(self, request: web.Request) -> web.Response:
        self.asked.append("robots")
        return web.Response(status=self.robots) if isinstance(self.robots, int) else web.Response(text=self.robots)

    async def _send_page(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if request.path == "/moved":
            raise web.HTTPFound("/closed/page")
        text = f"<html><body><article><p>{'Young corals grow on tiles. ' * 20}</p></article></body></html>"
        return web.Response(text=text, content_type="text/html")


@pytest.fixture
async def host() -> AsyncIterator[RobotsHost]:
    serving = RobotsHost()
    await serving.server.start_server()
    yield serving
    await serving.server.close()


async def test_page_disallowed_by_robots_txt_is_not_requested(host: RobotsHost, reader: PageReader) -> None:
    host.robots = "User-agent: *\nDisallow: /closed/\n"
    assert (await reader.read(host.get_url("/open/page"))).text
    for path in ("/closed/page", "/moved"):
        with pytest.raises(DownloadRefused, match=r"its host's robots\.txt disallows it"):
            await reader.read(host.get_url(path))
    assert host.asked == ["robots", "/open/page", "/moved"]


@pytest.mark.parametrize(("robots", "readable"), [(404, True), (403, True), (500, False), ("<html>none</html>", True)])
async def test_missing_robots_txt_allows_reading_and_server_error_blocks_it(
    host: RobotsHost, reader: PageReader, robots: str | int, readable: bool
) -> None:
    host.robots = robots
    if readable:
        assert (await reader.read(host.get_url("/page"))).text
    else:
        with pytest.raises(DownloadRefused, match=r"its host's robots\.txt could not be read"):
            await reader.read(host.get_url("/page"))
    assert host.asked.count("robots") == 1
