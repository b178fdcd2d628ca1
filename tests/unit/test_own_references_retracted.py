"""Report statements on an idea's retracted references, and on those that no source could be asked about."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence

import pytest

from assayer.errors import SourceUnavailable
from assayer.models import Identifiers, Retraction
from assayer.reports.reference_wording import describe_own_outcome
from tests.in_memory import HangingSearch, InMemorySource
from tests.unit.own_references_fixture import DIAZ, FOX, LEE, check_references, list_outcomes
from tests.unit.twins import make_run
from workers.literature.reference_sources import RemoteReferenceSource
from workers.literature.settings import LiteratureSettings
from workers.outbound.source_requests import RequestContext

DIAZ_WITH_DOI = DIAZ.model_copy(update={"identifiers": Identifiers(doi="10.1000/diaz")})
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
    answering_source = InMemorySource("crossref", [DIAZ_WITH_DOI], retracted={DIAZ_WITH_DOI.id: RETRACTED})
    references = await check_references(
        local_papers=[LEE, DIAZ_WITH_DOI, FOX], sources=[answering_source, HangingCheck("openalex", [])], seconds=1.0
    )
    assert list_outcomes(references) == ["found", "retracted", "found"]
    assert references.entries[1].retraction == RETRACTED
    assert references.entries[1].retraction_sources_unanswered == ("openalex",)


async def test_source_not_answering_about_retraction_is_named() -> None:
    references = await check_references(
        local_papers=[LEE, DIAZ_WITH_DOI, FOX], sources=[FailingCheck("crossref", []), InMemorySource("openalex", [])]
    )
    assert list_outcomes(references) == ["found"] * 3
    assert [entry.retraction_sources_unanswered for entry in references.entries] == [(), ("crossref",), ()]
    assert describe_own_outcome(references.entries[1]) == "found; Crossref did not answer whether it was retracted"


async def test_hanging_search_does_not_lose_retraction_notices() -> None:
    hanging_source = HangingSearch("crossref", [DIAZ_WITH_DOI], retracted={DIAZ_WITH_DOI.id: RETRACTED})
    references = await check_references(local_papers=[DIAZ_WITH_DOI], sources=[hanging_source], seconds=1.0)
    assert list_outcomes(references) == ["absent", "retracted", "absent"]


@pytest.mark.parametrize(("record", "remote"), [(RETRACTED, CONCERN), (CONCERN, RETRACTED)])
async def test_most_serious_notice_counts_regardless_of_source(record: Retraction, remote: Retraction) -> None:
    known_paper = DIAZ_WITH_DOI.model_copy(update={"retraction": record})
    source = InMemorySource("crossref", [DIAZ_WITH_DOI], retracted={DIAZ_WITH_DOI.id: remote})
    references = await check_references(local_papers=[LEE, known_paper, FOX], sources=[source])
    assert list_outcomes(references) == ["found", "retracted", "found"]


async def test_differences_and_concern_are_both_reported() -> None:
    doubted_paper = DIAZ.model_copy(update={"publication_date": dt.date(2012, 1, 1), "retraction": CONCERN})
    references = await check_references(local_papers=[LEE, doubted_paper, FOX])
    assert (
        describe_own_outcome(references.entries[1])
        == "found, with differences; expression of concern, according to Crossref"
    )


async def test_identifiers_of_entry_and_record_are_checked_together() -> None:
    by_doi = DIAZ_WITH_DOI.model_copy(update={"source": "crossref"})
    source = InMemorySource("crossref", [by_doi], retracted={DIAZ_WITH_DOI.id: RETRACTED})
    local = DIAZ.model_copy(update={"identifiers": Identifiers(openalex="W1")})
    text = (
        "Small models forget along a power law, and we will test whether this can be foreseen in all languages now.\n\n"
        "## References\n\n[1] Cy Diaz. Forgetting curves of small language models. 2021. doi:10.1000/diaz\n"
    )
    references = await check_references(text, local_papers=[local], sources=[source])
    assert list_outcomes(references) == ["retracted"]


@pytest.mark.parametrize(
    ("paper", "is_queried"),
    [
        (Identifiers(doi="10.1000/x", arxiv="1706.03762"), True),
        (Identifiers(doi="10.48550/arxiv.1706.03762", arxiv="1706.03762"), False),
        (Identifiers(arxiv="1706.03762"), False),
    ],
)
def test_crossref_is_queried_for_dois_except_arxiv_dois(paper: Identifiers, is_queried: bool) -> None:
    source = RemoteReferenceSource(InMemorySource("crossref", []), LiteratureSettings(), make_run())
    assert source.can_resolve(paper) is is_queried
    assert source.can_check_retraction(paper) is is_queried
