"""The sources under the common contract: add a line to `SPECIMENS` for each new one."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from assayer.errors import SourceUnavailable
from assayer.models import Identifiers
from simulator.outside.library import Entry, Library
from simulator.outside.openalex_works import get_doi, get_pmid
from simulator.outside.sample import SAMPLE
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.capabilities import LiteratureSource
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.literature_apis.unpaywall import Unpaywall
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, SourceResponse
from workers.outbound.source_settings import (
    ArxivSettings,
    CrossrefSettings,
    OpenAlexSettings,
    SemanticScholarSettings,
    SourceSettings,
    UnpaywallSettings,
)

LIBRARY = Library(SAMPLE)
"""Library of papers that the simulated services contain."""
ASK = RequestContext("evaluation", 20.0)
UNKNOWN_IDENTIFIERS = (
    Identifiers(doi="10.9999/nobody.knows.this"),
    Identifiers(s2="0" * 40, arxiv="0101.00001", openalex="W1", doi="10.9999/nor.this"),
    Identifiers(),
)


@dataclass(frozen=True)
class Specimen:
    """A source, and what its simulated twin contains."""

    make: Callable[[SourceFetcher], LiteratureSource]
    service: str
    """The twin's name; also the source's."""
    path: str
    """Path of the source's base URL on the simulator."""
    settings: type[SourceSettings]
    prefix: str
    """Prefix of the ids of its papers."""
    identifiers: Callable[[Entry], Identifiers]
    """Function returning the identifiers to look up a paper by; empty for a paper the source does not have."""
    day: Callable[[Entry], dt.date | None]
    """Function returning the date the source states for a paper."""


class _ClosedGateway:
    """Fetcher that refuses every request."""

    async def fetch(self, call: SourceRequest, ask: RequestContext) -> SourceResponse:
        raise SourceUnavailable(f"{call.source} is not asked here.")


def specimens_with(capability: type) -> list[object]:
    """Return the specimens of the sources with a capability, as parameters for `specimen`."""
    able_specimens = (item for item in SPECIMENS.values() if isinstance(item.make(_ClosedGateway()), capability))
    return [pytest.param(specimen, id=specimen.service) for specimen in able_specimens]


def _identify_for_semantic_scholar(entry: Entry) -> Identifiers:
    """Return an identifier of the entry, of different kinds by entry number so that all kinds are tried."""
    match entry.number % 4:
        case 0 if entry.doi:
            return Identifiers(doi=entry.doi)
        case 1 if entry.arxiv:
            return Identifiers(arxiv=entry.arxiv)
        case 2 if entry.acl:
            return Identifiers(acl=entry.acl)
        case _:
            return Identifiers(s2=entry.s2)


def _get_year_or_day(entry: Entry) -> dt.date | None:
    return entry.record.publication_date if entry.is_day_known else dt.date(entry.record.year or 1, 12, 31)


def _identify_for_openalex(entry: Entry) -> Identifiers:
    """Return an identifier of the entry, of different kinds by entry number; none for records without a title."""
    match entry.number % 4:
        case _ if entry.corpus_id % 200 == 0:
            return Identifiers()
        case 0 if get_doi(entry):
            return Identifiers(doi=get_doi(entry))
        case 1 if entry.arxiv and not entry.doi:
            return Identifiers(arxiv=entry.arxiv)
        case 2 if get_pmid(entry):
            return Identifiers(pubmed=get_pmid(entry))
        case _:
            return Identifiers(openalex=entry.openalex)


def _end_of_its_period(day: dt.date) -> dt.date:
    """A first day may stand for its whole month, the first of January for its year."""
    if day.day > 1:
        return day
    next_period = dt.date(day.year + 1, 1, 1) if day.month in {1, 12} else dt.date(day.year, day.month + 1, 1)
    return next_period - dt.timedelta(days=1)


def _get_openalex_day(entry: Entry) -> dt.date | None:
    day = _get_year_or_day(entry)
    return _end_of_its_period(day) if day else None


def _get_deposited_day(entry: Entry) -> dt.date | None:
    """Return the day as deposited with Crossref; every third paper with a known day was deposited without it."""
    day = _get_year_or_day(entry)
    if day is None or not entry.is_day_known or entry.corpus_id % 3:
        return day
    return _end_of_its_period(day.replace(day=1)) if day.month > 1 else day.replace(day=31)


def _identify_by_doi(entry: Entry) -> Identifiers:
    return Identifiers(doi=entry.doi)


SPECIMENS = {
    specimen.service: specimen
    for specimen in (
        Specimen(
            SemanticScholar,
            "semantic_scholar",
            "s2",
            SemanticScholarSettings,
            "s2",
            _identify_for_semantic_scholar,
            _get_year_or_day,
        ),
        Specimen(
            Arxiv,
            "arxiv",
            "arxiv",
            ArxivSettings,
            "arxiv",
            lambda entry: Identifiers(arxiv=entry.arxiv),
            lambda entry: entry.arxiv_date,
        ),
        Specimen(
            OpenAlex, "openalex", "openalex", OpenAlexSettings, "openalex", _identify_for_openalex, _get_openalex_day
        ),
        Specimen(Crossref, "crossref", "crossref", CrossrefSettings, "doi", _identify_by_doi, _get_deposited_day),
        Specimen(Unpaywall, "unpaywall", "unpaywall/v2", UnpaywallSettings, "doi", _identify_by_doi, _get_year_or_day),
    )
}
