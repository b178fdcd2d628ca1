"""The sources under the common contract: add a line to `SPECIMENS` for each new one."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from _pytest.mark import ParameterSet

from assayer.errors import SourceUnavailable
from assayer.models import Identifiers
from benchmarks.simulator.outside.library import Entry, Library
from benchmarks.simulator.outside.sample import SAMPLE
from workers.remote import Ask, Call, Remote, Reply
from workers.remote.settings import ArxivSettings, SemanticScholarSettings, SourceSettings
from workers.sources.arxiv import Arxiv
from workers.sources.semantic_scholar import SemanticScholar
from workers.sources.source import Source

__all__ = ["ASK", "LIBRARY", "SPECIMENS", "STRANGERS", "Specimen", "offering"]

LIBRARY = Library(SAMPLE)
"""What the simulated services know."""
ASK = Ask("evaluation", 20.0)
STRANGERS = (
    Identifiers(doi="10.9999/nobody.knows.this"),
    Identifiers(s2="0" * 40, arxiv="0101.00001", openalex="W1", doi="10.9999/nor.this"),
    Identifiers(),
)


@dataclass(frozen=True)
class Specimen:
    """One source, and what its twin knows."""

    make: Callable[[Remote], Source]
    service: str
    """The twin's name; also the source's."""
    path: str
    """Of its base URL on the simulator."""
    settings: type[SourceSettings]
    prefix: str
    """Of the ids of its papers."""
    identifiers: Callable[[Entry], Identifiers]
    """By which it can be asked for a paper; empty for one that it does not know."""
    day: Callable[[Entry], dt.date | None]
    """How it dates a paper."""


class _Shut:
    """A door that nobody goes through."""

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        raise SourceUnavailable(f"{call.source} is not asked here.")


def offering(capability: type) -> list[ParameterSet]:
    """The specimens of the sources that can do that, to parametrise `specimen` with."""
    able = (one for one in SPECIMENS.values() if isinstance(one.make(_Shut()), capability))
    return [pytest.param(specimen, id=specimen.service) for specimen in able]


def _semantic_scholar(entry: Entry) -> Identifiers:
    """By various names, so that all of them are tried."""
    match entry.number % 4:
        case 0 if entry.doi:
            return Identifiers(doi=entry.doi)
        case 1 if entry.arxiv:
            return Identifiers(arxiv=entry.arxiv)
        case 2 if entry.acl:
            return Identifiers(acl=entry.acl)
        case _:
            return Identifiers(s2=entry.s2)


def _year_or_day(entry: Entry) -> dt.date | None:
    return entry.record.publication_date if entry.day_known else dt.date(entry.record.year or 1, 12, 31)


SPECIMENS = {
    specimen.service: specimen
    for specimen in (
        Specimen(
            SemanticScholar, "semantic_scholar", "s2", SemanticScholarSettings, "s2", _semantic_scholar, _year_or_day
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
    )
}
