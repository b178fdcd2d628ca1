"""Report statements on an idea's retracted references, and on those that no source could be asked about."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence

import pytest

from assayer.errors import SourceUnavailable
from assayer.models import Identifiers, Retraction
from assayer.reports.reference_wording import describe_own_outcome
from tests.in_memory import HangingSearch, InMemorySource
from tests.unit.own_references_fixture import DIAZ, FOX, LEE, checked, outcomes
from tests.unit.twins import a_run
from workers.literature.reference_sources import RemoteReferenceSource
from workers.literature.settings import LiteratureSettings
from workers.outbound.source_requests import RequestContext

NAMED = DIAZ.model_copy(update={"identifiers": Identifiers(doi="10.1000/diaz")})
RETRACTED = Retraction(kind="retracted", source="crossref")
CONCERN = Retraction(kind="concern", source="crossref")


class HangingCheck(InMemorySource):
    """Source that never answers a request for retractions."""

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        await asyncio.Event().wait()
        return {}


class FailingCheck(InMemorySource):
    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        raise SourceUnavailable("It is down.")


async def test_retraction_notice_is_kept_when_another_source_hangs() -> None:
    told = InMemorySource("crossref", [NAMED], retracted={NAMED.id: RETRACTED})
    own = await checked(local=[LEE, NAMED, FOX], sources=[told, HangingCheck("openalex", [])], seconds=1.0)
    assert outcomes(own) == ["found", "retracted", "found"]
    assert own.entries[1].retraction == RETRACTED
    assert own.entries[1].retraction_sources_unanswered == ("openalex",)


async def test_source_not_answering_about_retraction_is_named() -> None:
    own = await checked(local=[LEE, NAMED, FOX], sources=[FailingCheck("crossref", []), InMemorySource("openalex", [])])
    assert outcomes(own) == ["found"] * 3
    assert [entry.retraction_sources_unanswered for entry in own.entries] == [(), ("crossref",), ()]
    assert describe_own_outcome(own.entries[1]) == "found; Crossref did not answer whether it was retracted"


async def test_hanging_search_does_not_lose_retraction_notices() -> None:
    hangs = HangingSearch("crossref", [NAMED], retracted={NAMED.id: RETRACTED})
    own = await checked(local=[NAMED], sources=[hangs], seconds=1.0)
    assert outcomes(own) == ["absent", "retracted", "absent"]


@pytest.mark.parametrize(("record", "remote"), [(RETRACTED, CONCERN), (CONCERN, RETRACTED)])
async def test_most_serious_notice_counts_regardless_of_source(record: Retraction, remote: Retraction) -> None:
    known = NAMED.model_copy(update={"retraction": record})
    source = InMemorySource("crossref", [NAMED], retracted={NAMED.id: remote})
    own = await checked(local=[LEE, known, FOX], sources=[source])
    assert outcomes(own) == ["found", "retracted", "found"]


async def test_differences_and_concern_are_both_reported() -> None:
    doubted = DIAZ.model_copy(update={"publication_date": dt.date(2012, 1, 1), "retraction": CONCERN})
    own = await checked(local=[LEE, doubted, FOX])
    assert (
        describe_own_outcome(own.entries[1]) == "found, with differences; expression of concern, according to Crossref"
    )


async def test_identifiers_of_entry_and_record_are_checked_together() -> None:
    by_doi = NAMED.model_copy(update={"source": "crossref"})
    source = InMemorySource("crossref", [by_doi], retracted={NAMED.id: RETRACTED})
    local = DIAZ.model_copy(update={"identifiers": Identifiers(openalex="W1")})
    text = (
        "Small models forget along a power law, and we will test whether this can be foreseen in all languages now.\n\n"
        "## References\n\n[1] Cy Diaz. Forgetting curves of small language models. 2021. doi:10.1000/diaz\n"
    )
    own = await checked(text, local=[local], sources=[source])
    assert outcomes(own) == ["retracted"]


@pytest.mark.parametrize(
    ("paper", "known"),
    [
        (Identifiers(doi="10.1000/x", arxiv="1706.03762"), True),
        (Identifiers(doi="10.48550/arxiv.1706.03762", arxiv="1706.03762"), False),
        (Identifiers(arxiv="1706.03762"), False),
    ],
)
def test_crossref_is_queried_for_dois_except_arxiv_dois(paper: Identifiers, known: bool) -> None:
    source = RemoteReferenceSource(InMemorySource("crossref", []), LiteratureSettings(), a_run())
    assert source.can_resolve(paper) is known
    assert source.can_check_retraction(paper) is known
