"""Submissions at OpenReview, read from an imitation of both versions of its API over loopback."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.models import Idea
from cluster import settings_loading
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.clock import SystemClock
from cluster.settings_loading import load_settings
from tests.constants import CONSTANTS
from tests.contract.openreview_imitation import ABSTRACT, OpenReview, run_openreview
from tests.contract.pdf_files import pdf
from tests.loopback import loopback_only
from workers.fetching import FetchingSettings
from workers.fetching.downloader import Downloader
from workers.full_texts.openreview_notes import OpenReviewNotes

NEW, OLD = "Reef.cc/2025/Conference", "Reef.cc/2021/Conference"
FORUM = "https://openreview.net/forum?id="


@pytest.fixture(autouse=True)
def outbound() -> Iterator[None]:
    with loopback_only() as watched_outbound:
        yield
    assert watched_outbound.attempts == []


@pytest.fixture
async def openreview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenReview]:
    async with run_openreview() as service:
        settings = {
            "HOME": str(tmp_path),
            "FULL_TEXTS__FETCH": "true",
            "FETCHING__ALLOW": "127.0.0.0/8",
            "FULL_TEXTS__HOSTS__OPENREVIEW": f"{service.url}/pdf",
            "FULL_TEXTS__HOSTS__OPENREVIEW_APIS": f"{service.url}/v2,{service.url}/v1",
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"ASSAYER_{name}", value)
        monkeypatch.setattr(settings_loading, "SETTABLE", CONSTANTS)
        yield service


@pytest.fixture
async def notes(openreview: OpenReview) -> AsyncIterator[OpenReviewNotes]:
    async with Downloader(FetchingSettings(allow=("127.0.0.0/8",)), SystemClock()) as downloader:
        yield OpenReviewNotes(downloader, (f"{openreview.url}/v2", f"{openreview.url}/v1"))


async def read(*addresses: str) -> tuple[list[Idea], list[str]]:
    ideas, rejected = await read_idea_inputs([Path(address) for address in addresses], load_settings())
    return ideas, [item.message for item in rejected]


def list_unread_parts(idea: Idea) -> dict[str, str]:
    assert idea.reading is not None
    return {item.part: item.reason for item in idea.reading.unread_parts}


@pytest.mark.parametrize("version", ["v2", "v1"])
async def test_submission_is_read_from_the_version_that_has_it(openreview: OpenReview, version: str) -> None:
    openreview.add(version, "aB3-_x", f"{NEW}/-/Submission")
    (idea,), rejected = await read(f"{FORUM}aB3-_x&noteId=zz")
    assert not rejected
    assert (idea.title, idea.source) == ("Corals on tiles aB3-_x", f"{FORUM}aB3-_x")
    assert [(section.title, section.text) for section in idea.sections] == [("Abstract", ABSTRACT.strip())]
    assert list_unread_parts(idea)["the full text"] == "the submission has no PDF"


async def test_full_text_is_read_from_the_pdf_of_a_submission(openreview: OpenReview) -> None:
    openreview.add("v2", "whole", f"{NEW}/-/Submission", pdf="/pdf/5f.pdf")
    openreview.pdfs["whole"] = pdf(
        [("F2", 14, "1 Introduction"), *[("F1", 10, "We plant young corals on tiles in three bays.")] * 20]
    )
    (idea,), _ = await read("https://openreview.net/pdf?id=whole")
    assert idea.title == "Corals on tiles whole"
    assert "young corals" in " ".join(section.text for section in idea.sections)


async def test_form_is_read_when_the_pdf_cannot_be_fetched(openreview: OpenReview) -> None:
    openreview.add("v2", "lost", f"{NEW}/-/Submission", pdf="/pdf/5f.pdf")
    (idea,), _ = await read(f"{FORUM}lost")
    assert [section.title for section in idea.sections] == ["Abstract"]
    assert "404" in list_unread_parts(idea)["the full text"]


@pytest.mark.parametrize("page", ["group?id", "submissions?venue"])
async def test_venue_lists_its_submissions_except_withdrawn_submissions(openreview: OpenReview, page: str) -> None:
    openreview.groups[NEW] = {"submission_id": f"{NEW}/-/Paper", "submission_name": "Paper"}
    openreview.add("v2", "first", f"{NEW}/-/Paper", venueid=f"{NEW}/Submission")
    openreview.add("v2", "gone", f"{NEW}/-/Paper", venueid=f"{NEW}/Withdrawn_Submission")
    openreview.add("v2", "last", f"{NEW}/-/Paper", venueid=NEW)
    openreview.add("v2", "review", f"{NEW}/Paper1/-/Official_Review")
    ideas, rejected = await read(f"https://openreview.net/{page}={NEW}")
    assert [idea.source for idea in ideas] == [f"{FORUM}first", f"{FORUM}last"]
    assert rejected == [f"{FORUM}gone was withdrawn or rejected without a review."]


async def test_venue_of_version_1_is_found_by_the_usual_invitation(openreview: OpenReview) -> None:
    openreview.add("v1", "old", f"{OLD}/-/Blind_Submission")
    (idea,), _ = await read(f"https://openreview.net/group?id={OLD}#tab-accept")
    assert idea.source == f"{FORUM}old"


async def test_all_pages_of_a_venue_are_read_once(openreview: OpenReview, notes: OpenReviewNotes) -> None:
    for number in range(2001):
        openreview.add("v2", f"n{number}", f"{NEW}/-/Submission")
    submissions = await notes.fetch_submissions(NEW)
    assert [note["id"] for note in submissions] == [f"n{number}" for number in range(2001)]
    assert sum("offset=" in request for request in openreview.requests) == 3


async def test_venue_is_refused_when_a_later_page_fails(openreview: OpenReview, notes: OpenReviewNotes) -> None:
    for number in range(1001):
        openreview.add("v2", f"n{number}", f"{NEW}/-/Submission")
    openreview.failing_offset = 1000
    with pytest.raises(InputError, match=r"stopped after 1000 submissions\. .* status 500"):
        await notes.fetch_submissions(NEW)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (f"{FORUM}hidden", "OpenReview has no public submission hidden. "),
        (f"https://openreview.net/group?id={NEW}", f"OpenReview has no public submissions to {NEW}. "),
    ],
)
async def test_message_for_a_submission_that_is_not_public_names_the_remedy(
    openreview: OpenReview, address: str, expected: str
) -> None:
    openreview.hidden.add("hidden")
    ideas, (message,) = await read(address)
    assert not ideas
    assert message.startswith(expected)
    assert "can be read from a JSON export of their notes" in message


async def test_submission_is_not_fetched_when_fetching_is_off(
    openreview: OpenReview, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAYER_FULL_TEXTS__FETCH", "false")
    _, (message,) = await read(f"{FORUM}abc")
    assert message.endswith("Run with --profile online, or set ASSAYER_FULL_TEXTS__FETCH=true.")
    assert not openreview.requests
