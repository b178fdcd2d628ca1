"""Response bodies: their type, their speed, and the order in which they are read."""

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import DownloadRefused
from workers.fetching.content_types import ContentKind, check_declared_type, check_first_bytes
from workers.fetching.response_body import ThroughputMonitor
from workers.fetching.robots import HostSlots

HTML = b"<!DOCTYPE html><html><body>Sign in</body></html>"
PDF: tuple[ContentKind, ...] = ("pdf",)


@pytest.mark.parametrize(
    ("start", "content_type", "kind"),
    [
        (b"%PDF-1.7\n", "application/pdf", "pdf"),
        (b"\n\n%PDF-1.4", "application/octet-stream", "pdf"),
        (b"%PDF-1.7 <html>", "", "pdf"),
        (HTML, "text/html", "html"),
        (HTML, "application/pdf", "html"),
        (b"<html>%PDF-1.7", "application/pdf", "html"),
        (b"\xef\xbb\xbf\r\n<HTML lang=en>", "text/html", "html"),
        (b"Words only", "text/html", "html"),
        (b"<?xml version='1.0'?><TEI/>", "application/xml", "xml"),
        (b"<article><front/></article>", "text/xml", "xml"),
        (b"User-agent: *\n", "text/plain", "text"),
        (b"", "text/plain", "text"),
    ],
)
def test_content_kind_is_detected_from_first_bytes(start: bytes, content_type: str, kind: ContentKind) -> None:
    assert check_first_bytes(start, content_type, ("pdf", "html", "xml", "text"), "it") == kind


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (HTML, "it is an HTML page, not a PDF"),
        (b"Just words", "it is plain text, not a PDF"),
        (b"PK\x03\x04\x14\x00", "its file signature .* is unknown"),
        (b"\x7fELF\x02\x01", "its file signature .* is unknown"),
        (b"", "its file signature .* is unknown"),
    ],
)
def test_non_pdf_body_is_rejected_despite_pdf_content_type(start: bytes, message: str) -> None:
    with pytest.raises(DownloadRefused, match=message):
        check_first_bytes(start, "application/pdf", PDF, "it")


@given(st.binary(max_size=300), st.sampled_from(["application/pdf", "text/html", "", "image/png"]))
def test_arbitrary_body_is_of_a_wanted_kind_or_rejected(start: bytes, content_type: str) -> None:
    with suppress(DownloadRefused):
        assert check_first_bytes(start, content_type, ("pdf", "xml"), "it") in ("pdf", "xml")


def test_unwanted_content_type_is_rejected_before_reading_body() -> None:
    check_declared_type("application/octet-stream", PDF, "it")
    with pytest.raises(DownloadRefused, match="served as 'video/mp4', not as an HTML page or a PDF"):
        check_declared_type("video/mp4", (*PDF, "html"), "it")


def test_download_speed_is_judged_per_time_window() -> None:
    monitor = ThroughputMonitor(started=100.0, min_bytes_per_second=10.0, grace_seconds=5.0)
    assert not monitor.is_too_slow(101.0, 1)
    assert not monitor.is_too_slow(105.0, 1_000_000)
    assert not monitor.is_too_slow(109.9, 1)
    assert monitor.is_too_slow(110.0, 1)


@given(st.lists(st.tuples(st.floats(0.01, 3.0), st.integers(50, 500)), max_size=40))
def test_sufficiently_fast_download_is_never_marked_slow(pieces: list[tuple[float, int]]) -> None:
    monitor, now = ThroughputMonitor(0.0, min_bytes_per_second=50 / 3.0 / 2, grace_seconds=3.0), 0.0
    for seconds, received in pieces:
        now += seconds
        assert not monitor.is_too_slow(now, received)


async def test_host_slots_are_limited_first_in_first_out_and_cleaned_up() -> None:
    slots = HostSlots(2)
    order: list[int] = []
    running_counts: list[int] = []

    async def visit(number: int, leave: asyncio.Event) -> None:
        async with slots.hold_slot("host"):
            order.append(number)
            running_counts.append(number)
            assert len(running_counts) <= 2
            await leave.wait()
            running_counts.remove(number)

    leave = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(visit(number, leave))
        async with slots.hold_slot("other"):
            leave.set()
    assert order == list(range(6))
    assert slots._hosts == {}


async def test_cancelled_wait_releases_its_host_slot() -> None:
    slots = HostSlots(1)
    async with slots.hold_slot("host"):
        waiting = asyncio.ensure_future(slots.hold_slot("host").__aenter__())
        await asyncio.wait([waiting], timeout=0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with slots.hold_slot("host"):
        assert waiting.cancelled()
