"""The table of the package says what the classes can do."""

from collections.abc import Callable

import pytest

import workers.literature_apis
from tests.unit.canned_remote import CannedRemote
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.capabilities import (
    ListsCitingPapers,
    ListsReferences,
    LiteratureSource,
    LocatesPdfs,
    RecommendsPapers,
    ReportsRetractions,
    ResolvesIdentifiers,
    SearchesPapers,
    SearchesSnippets,
)
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.literature_apis.unpaywall import Unpaywall
from workers.outbound.source_requests import SourceFetcher

_SOURCES: tuple[Callable[[SourceFetcher], LiteratureSource], ...] = (
    SemanticScholar,
    OpenAlex,
    Crossref,
    Arxiv,
    Unpaywall,
)
_PORTS = (
    SearchesPapers,
    SearchesSnippets,
    RecommendsPapers,
    ListsCitingPapers,
    ListsReferences,
    ResolvesIdentifiers,
    ReportsRetractions,
    LocatesPdfs,
)


def read_table() -> dict[tuple[str, str], str]:
    """Return the cells of the table by row and column."""
    lines = [line for line in (workers.literature_apis.__doc__ or "").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {(row[0], column): cell for row in rows[2:] for column, cell in zip(rows[0], row, strict=True)}


@pytest.mark.parametrize("make", _SOURCES)
def test_source_capabilities_match_documented_table(make: Callable[[SourceFetcher], LiteratureSource]) -> None:
    source, table = make(CannedRemote()), read_table()
    documented_ports = {port.__name__ for port in _PORTS if table[port.__name__, type(source).__name__] == "×"}
    assert documented_ports == {port.__name__ for port in _PORTS if isinstance(source, port)}


def test_every_source_has_its_own_name() -> None:
    assert len({make(CannedRemote()).name for make in _SOURCES}) == len(_SOURCES)
