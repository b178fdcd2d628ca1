"""A page read outside is read from the cache the next time, as long as it is valid."""

import datetime as dt
from pathlib import Path

import pytest

from assayer.models import Absent, WebPage
from tests.unit.twins import FixedClock
from workers.file_cache import FileCache
from workers.file_storage import FileStorage

PAGE = WebPage(url="https://example.org/a", title="A", site="", text="A text with 漢字.")
ABSENT_PAGE = Absent(reason="the page is no article")
DAY = dt.timedelta(days=1)


class Calendar(FixedClock):
    def __init__(self) -> None:
        self.day = 0

    def now(self) -> dt.datetime:
        return super().now() + self.day * DAY


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


def make_cache(folder: Path, calendar: Calendar) -> FileCache[WebPage]:
    return FileCache(FileStorage(str(folder)), "pages", WebPage, calendar, keep=30 * DAY, retry=2 * DAY)


def overwrite(folder: Path, content: bytes | None) -> None:
    """Overwrite the only file of the cache; with None, truncate it."""
    (file,) = folder.rglob("*.json.gz")
    file.write_bytes(file.read_bytes()[:-8] if content is None else content)


async def test_cached_page_is_available_to_another_cache_instance(tmp_path: Path, calendar: Calendar) -> None:
    assert await make_cache(tmp_path, calendar).get("a") is None
    await make_cache(tmp_path, calendar).put("a", PAGE)
    assert await make_cache(tmp_path, calendar).get("a") == PAGE
    assert await make_cache(tmp_path, calendar).get("b") is None


async def test_cached_page_outlives_cached_failure_and_both_expire(tmp_path: Path, calendar: Calendar) -> None:
    cache = make_cache(tmp_path, calendar)
    await cache.put("a", PAGE)
    await cache.put("b", ABSENT_PAGE)
    assert await cache.get("b") == ABSENT_PAGE
    calendar.day = 2
    assert (await cache.get("a"), await cache.get("b")) == (PAGE, None)
    calendar.day = 30
    assert await cache.get("a") is None


@pytest.mark.parametrize("damage", [b"", b"no gzip", None])
async def test_a_damaged_file_counts_as_missing(tmp_path: Path, calendar: Calendar, damage: bytes | None) -> None:
    cache = make_cache(tmp_path, calendar)
    await cache.put("a", PAGE)
    overwrite(tmp_path, damage)
    assert await cache.get("a") is None
    await cache.put("a", PAGE)
    assert await cache.get("a") == PAGE
