"""Requests of an evaluation to remote sources are in its journal."""

import pytest

from assayer.errors import SourceBusy
from assayer.models import Identifiers
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from tests.unit.twins import make_run
from workers.full_texts.pdf_locations import JournalledPdfLocator
from workers.outbound.source_requests import JournalledFetcher, RequestContext, SourceRequest

CALL = SourceRequest("arxiv", "search", "api/query")


async def test_remote_answers_are_counted_with_cache_hits_separate() -> None:
    run, fresh = make_run(), make_response({})
    await JournalledFetcher(CannedRemote(default=fresh), run.journal).fetch(CALL, ASK)
    await JournalledFetcher(CannedRemote(default=fresh._replace(cached=True)), run.journal).fetch(CALL, ASK)
    (source_use,) = run.journal.list_source_uses()
    assert (source_use.source, source_use.operation, source_use.requests, source_use.results, source_use.cached) == (
        "arxiv",
        "search",
        2,
        0,
        1,
    )


class ScriptedUnpaywall:
    name = "unpaywall"

    def __init__(self, *answers: tuple[str, ...] | SourceBusy) -> None:
        self._answers = list(answers)

    async def pdf_urls(self, paper: Identifiers, ask: RequestContext) -> tuple[str, ...]:
        answer = self._answers.pop(0)
        if isinstance(answer, SourceBusy):
            raise answer
        return answer


async def test_pdf_locator_records_found_urls_and_source_failures() -> None:
    run = make_run()
    locator = JournalledPdfLocator(ScriptedUnpaywall(("https://a.example/1.pdf",), SourceBusy("No turn.")), run)
    assert await locator.pdf_urls(Identifiers(doi="10.1000/1"), ASK) == ("https://a.example/1.pdf",)
    with pytest.raises(SourceBusy):
        await locator.pdf_urls(Identifiers(doi="10.1000/2"), ASK)
    (source_use,), (failure,) = run.journal.list_source_uses(), run.journal.list_source_failures()
    assert (source_use.source, source_use.operation, source_use.results) == ("unpaywall", "open_access", 1)
    assert (failure.source, failure.operation, failure.reason) == ("unpaywall", "open_access", SourceBusy.reason)


def test_source_use_without_requests_or_results_is_not_listed() -> None:
    run = make_run()
    run.journal.record_use("crossref", "papers")
    assert run.journal.list_source_uses() == ()
