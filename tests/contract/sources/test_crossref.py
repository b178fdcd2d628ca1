import pytest

from assayer.errors import SourceRefused
from assayer.literature.paper_identity import build_title_key
from assayer.models import Identifiers, Retraction, Window
from simulator.outside.process import OutsideWorld
from tests.contract.sources.open_gateway import open_gateway
from tests.contract.sources.specimens import ASK, LIBRARY
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.unpaywall import Unpaywall

_REGISTERED = [entry for entry in LIBRARY.entries if entry.doi]


async def test_papers_are_resolved_by_doi_in_a_single_request(world: OutsideWorld) -> None:
    names = [Identifiers(doi=entry.doi) for entry in _REGISTERED]
    unknown_identifiers = [Identifiers(doi="10.1000/unknown"), Identifiers(arxiv="2101.00001"), Identifiers()]
    unknown_identifiers += [Identifiers(doi="10.48550/arxiv.2101.00001")]
    async with open_gateway(world, "crossref") as remote:
        papers = await Crossref(remote).resolve([*names, *unknown_identifiers], ASK)
    for entry, paper in zip(_REGISTERED, papers, strict=False):
        assert paper is not None
        assert paper.identifiers.doi == entry.doi
        assert build_title_key(paper.title) == build_title_key(entry.record.title)
        assert paper.authors == entry.record.authors
        assert paper.abstract in {"", entry.record.abstract}
        assert paper.identifiers.arxiv in {"", entry.arxiv}
        assert paper.publication_date is not None
        assert entry.record.publication_date is not None
        assert paper.publication_date >= entry.record.publication_date
    assert papers[len(names) :] == [None] * len(unknown_identifiers)
    assert world.read_stats("crossref").requests == 1


async def test_retraction_notices_have_kind_doi_and_date_and_corrections_are_ignored(world: OutsideWorld) -> None:
    names = {Identifiers(doi=entry.doi): entry.notice for entry in _REGISTERED}
    async with open_gateway(world, "crossref") as remote:
        notices = await Crossref(remote).retractions(list(names), ASK)
    assert {name: (kind_notice.kind, kind_notice.date) for name, kind_notice in notices.items()} == {
        name: (notice.kind, notice.date) for name, notice in names.items() if notice
    }
    assert notices
    for name, kind_notice in notices.items():
        notice = names[name]
        assert notice is not None
        assert kind_notice in {
            Retraction(kind=notice.kind, source="crossref", notice=doi, date=notice.date)
            for doi in (notice.doi, name.doi)
        }


async def test_single_doi_is_requested_directly_and_unknown_doi_returns_none(world: OutsideWorld) -> None:
    async with open_gateway(world, "crossref") as remote:
        source = Crossref(remote)
        (known,) = await source.resolve([Identifiers(doi=_REGISTERED[0].doi)], ASK)
        (unknown,) = await source.resolve([Identifiers(doi="10.1000/un?known#/../../works")], ASK)
    assert known is not None
    assert unknown is None
    assert world.read_stats("crossref").by_operation == {"work": 2}


async def test_requests_stay_within_the_polite_pool_limits(world: OutsideWorld) -> None:
    world.configure("crossref", per_second=3.0, concurrent=3)
    async with open_gateway(world, "crossref", email="assayer@example.org", spacing_seconds=0.35) as remote:
        source = Crossref(remote)
        for word in ("graph", "attention", "diffusion"):
            await source.search(word, 5, Window(), ASK)
        await source.resolve([Identifiers(doi=_REGISTERED[1].doi)], ASK)
    stats = world.read_stats("crossref")
    assert (stats.requests, stats.over_limit) == (4, 0)


async def test_unpaywall_returns_only_copies_with_a_pdf(world: OutsideWorld) -> None:
    async with open_gateway(world, "unpaywall", email="assayer@example.org") as remote:
        source = Unpaywall(remote)
        url_lists = {entry.doi: await source.pdf_urls(Identifiers(doi=entry.doi), ASK) for entry in _REGISTERED[:20]}
        unknown = await source.pdf_urls(Identifiers(doi="10.1000/unknown"), ASK)
    for entry in _REGISTERED[:20]:
        free = entry.free_pdf or (entry.arxiv and entry.corpus_id % 4)
        assert url_lists[entry.doi] == ((world.url(entry.pdf_path.removeprefix("/")),) if free else ())
    assert unknown == ()


async def test_unpaywall_requires_a_contact_address(world: OutsideWorld) -> None:
    async with open_gateway(world, "unpaywall") as remote:
        with pytest.raises(SourceRefused):
            await Unpaywall(remote).pdf_urls(Identifiers(doi=_REGISTERED[0].doi), ASK)
