"""Local first, topped up from remote sources, merged, and accounted for."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest

from assayer.errors import SourceBusy, SourceMalformed, SourceUnavailable
from assayer.models import CorpusFit, FieldOrigin, Identifiers, Paper, PaperId, Retraction, Window
from assayer.run.run import Run
from tests.in_memory import InMemorySource
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import a_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature import LiteratureSettings
from workers.literature.federated_literature import FederatedLiterature, FederatedLiteratureFactory

CUTOFF = dt.date(2024, 6, 30)
WINDOW = Window.until(CUTOFF)
EMBEDDER = HashingEmbedder()
GOOD = CorpusFit(level="good", value=0.6, criterion="given by the test")
POOR = CorpusFit(level="poor", value=0.1, criterion="given by the test")
QUERY = "checking quotes of generated reviews"


def a_paper(key: str, source: str = "corpus", day: dt.date | None = CUTOFF, **fields: object) -> Paper:
    given = {
        "title": f"Checking quotes of generated reviews, study {key}",
        "abstract": f"Quotes of generated reviews are checked by readers, study {key}.",
        "authors": ("Ada Lovelace",),
        "publication_date": day,
        "identifiers": Identifiers(doi=f"10.1000/{key}"),
    }
    return Paper.model_validate({**given, "id": f"{source}-{key}", "source": source, **fields})


def a_literature(
    run: Run,
    local: Sequence[Paper] = (),
    sources: Sequence[InMemorySource] = (),
    fit: CorpusFit = POOR,
    references: Mapping[PaperId, Sequence[PaperId]] | None = None,
    **settings: object,
) -> FederatedLiterature:
    corpus = MemoryCorpus(local, EMBEDDER, references=references, fit=fit)
    makers = {source.name: (lambda run, source=source: source) for source in sources}
    return FederatedLiteratureFactory(corpus, makers, LiteratureSettings.model_validate(settings)).for_run(run)


def s2(*papers: Paper, **others: object) -> InMemorySource:
    return InMemorySource("semantic_scholar", papers, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(("fit", "near", "asked"), [(POOR, 0.1, True), (GOOD, 0.999, True), (GOOD, 0.1, False)])
async def test_remote_sources_are_searched_when_corpus_fit_or_similarity_is_poor(
    fit: CorpusFit, near: float, asked: bool
) -> None:
    source = s2(a_paper("other", "semantic_scholar"))
    literature = a_literature(a_run(CUTOFF), [a_paper(str(number)) for number in range(8)], [source], fit, near=near)
    await literature.fit("the idea", WINDOW)
    (hits,) = await literature.search([QUERY], 20, WINDOW)
    assert bool(source.requests) == asked
    assert ("semantic_scholar" in {hit.paper.source for hit in hits}) == asked
    assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)


async def test_outdated_corpus_is_supplemented_with_newer_remote_papers() -> None:
    early = dt.date(2023, 1, 31)
    source = s2(a_paper("older", "semantic_scholar", dt.date(2022, 1, 1)), a_paper("newer", "semantic_scholar"))
    local = [a_paper(str(number), day=early) for number in range(8)]
    literature = a_literature(a_run(CUTOFF), local, [source], GOOD, near=0.1)
    await literature.fit("the idea", WINDOW)
    (hits,) = await literature.search([QUERY], 20, WINDOW)
    assert [hit.paper.id for hit in hits if hit.paper.source != "corpus"] == ["semantic_scholar-newer"]


async def test_remote_record_of_a_corpus_paper_is_merged_under_corpus_id() -> None:
    ours = a_paper("1", citation_count=None, abstract="Quotes of generated reviews are …")
    theirs = a_paper("1", "semantic_scholar", citation_count=40)
    literature = a_literature(a_run(CUTOFF), [ours], [s2(theirs)])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    (paper,) = [hit.paper for hit in hits]
    assert (paper.id, paper.source, paper.citation_count) == (ours.id, "corpus", 40)
    assert FieldOrigin(field="citation_count", source="semantic_scholar") in paper.origins


async def test_late_and_undated_remote_papers_are_excluded() -> None:
    class Careless(InMemorySource):
        async def search(self, *_: object) -> list[Paper]:
            return list(self.papers)

    late = CUTOFF + dt.timedelta(days=1)
    known, seed = a_paper("known", "arxiv"), a_paper("seed", "arxiv")
    papers = [known, seed, a_paper("late", "arxiv", late), a_paper("undated", "arxiv", None)]
    source = Careless("arxiv", papers, cited={seed.id: [paper.id for paper in papers]})
    literature = a_literature(a_run(CUTOFF), [], [source])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    assert {hit.paper.id for hit in hits} == {known.id, seed.id}
    for found in (
        [hit.paper for hit in (await literature.neighbours([seed.id], 10, WINDOW))[seed.id]],
        (await literature.references([seed.id], 10, WINDOW))[seed.id],
        [snippet.paper for snippet in (await literature.snippets([QUERY], 10, WINDOW))[0]],
    ):
        assert {paper.id for paper in found} <= {known.id, seed.id}
        assert found


async def test_record_dated_after_the_cutoff_adds_nothing_to_a_paper_known_before() -> None:
    preprint = a_paper("1", "arxiv", dt.date(2024, 1, 1), abstract="As posted.")
    published = a_paper("1", "semantic_scholar", dt.date(2024, 12, 1), abstract="As revised, with results of later.")
    literature = a_literature(a_run(CUTOFF), [], [s2(published), InMemorySource("arxiv", [preprint])])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    assert [hit.paper for hit in hits] == [preprint]


async def test_failed_source_is_reported_and_other_sources_answer() -> None:
    run = a_run(CUTOFF)
    down = InMemorySource("openalex", [a_paper("1", "openalex")], failing=SourceUnavailable("OpenAlex is down."))
    garbled = InMemorySource("arxiv", [], failing=SourceMalformed("arXiv sent half a feed."))
    literature = a_literature(run, [], [down, garbled, s2(a_paper("2", "semantic_scholar"))])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    assert [hit.paper.id for hit in hits] == ["semantic_scholar-2"]
    assert {
        (failure.source, failure.operation, failure.reason, failure.requests)
        for failure in run.journal.list_source_failures()
    } == {
        ("openalex", "search", SourceUnavailable.reason, 1),
        ("arxiv", "search", SourceMalformed.reason, 1),
    }
    assert run.journal.list_remote_sources_searched("corpus") == ("semantic_scholar",)


async def test_remote_queries_are_capped_per_evaluation_and_the_rest_reported() -> None:
    run, source = a_run(CUTOFF), s2(a_paper("1", "semantic_scholar"))
    literature = a_literature(run, [], [source], questions=5, questions_at_once=3)
    for number in range(4):
        await literature.search([f"{QUERY} {number} {part}" for part in "abcdef"], 10, WINDOW)
    assert len(source.requests) == 5
    (dropped,) = [item for item in run.journal.list_dropped() if item.item_kind == "question to a remote source"]
    assert dropped.count == 24 - 5


async def test_least_answered_queries_are_sent_first() -> None:
    asked = []

    class Noting(InMemorySource):
        async def search(self, query: str, *_: object) -> list[Paper]:
            asked.append(query)
            return []

    local = [a_paper(str(number)) for number in range(3)]
    literature = a_literature(a_run(CUTOFF), local, [Noting("arxiv", [])], questions_at_once=1)
    await literature.search([QUERY, "tidal heating of icy moons"], 10, WINDOW)
    assert asked == ["tidal heating of icy moons"]


async def test_papers_that_a_snippet_cites_are_fetched_in_one_request() -> None:
    cited = [a_paper(f"cited{number}", "semantic_scholar", title=f"Tide {number}", abstract="") for number in range(6)]
    citing = a_paper("citing", "semantic_scholar")
    source = s2(citing, *cited, cited={citing.id: [paper.id for paper in cited]})
    literature = a_literature(a_run(CUTOFF), [], [source])
    (passages,) = await literature.snippets([QUERY], 10, WINDOW)
    (passage,) = passages
    assert len(passage.cites) == 6
    found = await literature.papers(passage.cites, WINDOW)
    assert {paper.title for paper in found.values()} == {paper.title for paper in cited}
    assert list(found) == list(passage.cites)
    assert [method for method, _ in source.requests] == ["snippets", "resolve"]
    await literature.papers(passage.cites, WINDOW)
    assert len(source.requests) == 2


async def test_missing_corpus_references_are_fetched_from_first_source_that_has_them() -> None:
    known, unknown, old = a_paper("known"), a_paper("unknown"), a_paper("old")
    remote = [a_paper("unknown", "openalex"), a_paper("cited", "openalex")]
    first = InMemorySource("semantic_scholar", [])
    second = InMemorySource("openalex", remote, cited={remote[0].id: [remote[1].id]})
    literature = a_literature(a_run(CUTOFF), [known, unknown, old], [first, second], references={known.id: [old.id]})
    await literature.search([QUERY], 10, WINDOW)
    found = await literature.references([known.id, unknown.id], 10, WINDOW)
    assert {key: [paper.id for paper in cited] for key, cited in found.items()} == {
        known.id: [old.id],
        unknown.id: [remote[1].id],
    }


async def test_missing_citing_papers_are_fetched_from_first_source_that_has_them() -> None:
    known, unknown, follower = a_paper("known"), a_paper("unknown"), a_paper("follower")
    late = a_paper("late", "openalex", CUTOFF + dt.timedelta(days=1))
    remote = [a_paper("unknown", "openalex"), a_paper("citing", "openalex"), late]
    first = InMemorySource("semantic_scholar", [])
    second = InMemorySource("openalex", remote, cited={item.id: [remote[0].id] for item in remote[1:]})
    run = a_run(CUTOFF)
    literature = a_literature(run, [known, unknown, follower], [first, second], references={follower.id: [known.id]})
    await literature.search([QUERY], 10, WINDOW)
    found = await literature.citing([known.id, unknown.id], 10, WINDOW)
    assert {key: [paper.id for paper in citing] for key, citing in found.items()} == {
        known.id: [follower.id],
        unknown.id: [remote[1].id],
    }
    assert [method for method, _ in second.requests] == ["search", "citing"]
    assert ("corpus", "citations") in {(use.source, use.operation) for use in run.journal.list_source_uses()}


async def test_similarity_is_computed_alike_for_corpus_and_remote_papers() -> None:
    ours, theirs = a_paper("1"), a_paper("2", "semantic_scholar")
    literature = a_literature(a_run(CUTOFF), [ours], [s2(theirs)])
    await literature.search([QUERY], 10, WINDOW)
    found = await literature.similarity(QUERY, [ours.id, theirs.id, PaperId("unheard of")])
    alone = MemoryCorpus([ours, theirs], EMBEDDER)
    assert found == pytest.approx(await alone.similarity(QUERY, [ours.id, theirs.id]), abs=1e-6)


async def test_retractions_are_checked_in_a_batch_and_the_most_serious_is_kept() -> None:
    run, papers = a_run(CUTOFF), [a_paper(str(number)) for number in range(4)]
    theirs = [a_paper(str(number), "crossref") for number in range(4)]
    retracted = Retraction(kind="retracted", source="crossref", notice="10.1000/notice")
    crossref = InMemorySource("crossref", theirs, retracted={theirs[2].id: retracted})
    openalex = InMemorySource(
        "openalex", theirs, retracted={theirs[2].id: Retraction(kind="concern", source="openalex")}
    )
    literature = a_literature(run, papers, [openalex, crossref])
    nameless = a_paper("nameless", identifiers=Identifiers())
    assert await literature.retractions([*papers, nameless]) == {papers[2].id: retracted}
    assert [method for method, _ in [*crossref.requests, *openalex.requests]] == ["retractions"] * 2
    (dropped,) = [
        item for item in run.journal.list_dropped() if item.item_kind == "check of a cited paper for retraction"
    ]
    assert dropped.count == 1


class Ticking:
    """A clock that only a test moves."""

    seconds = 0.0

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def monotonic(self) -> float:
        return self.seconds


class Slow(InMemorySource):
    """A source that answers each search after 40 seconds of a clock."""

    clock: Ticking

    async def search(self, *args: object) -> list[Paper]:
        self.clock.seconds += 40.0
        return await super().search(*args)  # type: ignore[arg-type]


def slow_source(run: Run, name: str) -> Slow:
    run.clock = Ticking()
    source = Slow(name, [a_paper("1", name)])
    source.clock = run.clock
    return source


async def test_waiting_time_for_a_source_is_limited_per_evaluation() -> None:
    run = a_run(CUTOFF)
    slow = slow_source(run, "arxiv")
    literature = a_literature(run, [], [slow], patience_seconds=60.0)
    for number in range(3):
        await literature.search([f"{QUERY} {number}"], 10, WINDOW)
    assert [context.patience for _, context in slow.requests] == [60.0, 20.0, 0.0]
    assert {context.owner for _, context in slow.requests} == {run.id}


async def test_retraction_checks_have_a_separate_waiting_time_limit() -> None:
    run = a_run(CUTOFF)
    slow = slow_source(run, "openalex")
    literature = a_literature(run, [], [slow], patience_seconds=30.0, retraction_seconds=45.0)
    await literature.search([QUERY], 10, WINDOW)
    await literature.retractions([a_paper("1")])
    assert [(method, context.patience) for method, context in slow.requests] == [
        ("search", 30.0),
        ("retractions", 45.0),
    ]


async def test_corpus_answers_alone_without_remote_sources_and_use_is_recorded() -> None:
    run = a_run(CUTOFF)
    papers = [a_paper(str(number)) for number in range(3)]
    literature = a_literature(run, papers)
    corpus = MemoryCorpus(papers, EMBEDDER)
    assert await literature.search([QUERY, "tides"], 2, WINDOW) == await corpus.search([QUERY, "tides"], 2, WINDOW)
    assert literature.version == corpus.version
    (use,) = run.journal.list_source_uses()
    assert (use.source, use.operation, use.requests, use.results) == ("corpus", "search", 2, 4)


def test_version_names_corpus_and_sources() -> None:
    literature = a_literature(a_run(), [], [s2(), InMemorySource("arxiv", [])])
    assert literature.version == "memory-0 + semantic_scholar + arxiv"


@pytest.mark.parametrize(("near", "found"), [(0.2, True), (0.999, False)])
async def test_only_similar_remote_papers_count_as_field_coverage(near: float, found: bool) -> None:
    run = a_run(CUTOFF)
    theirs = a_paper("theirs", "semantic_scholar")
    ours, also_theirs = a_paper("ours"), a_paper("ours", "semantic_scholar")
    literature = a_literature(run, [ours], [s2(theirs, also_theirs)], near=near)
    await literature.search([QUERY], 10, WINDOW)
    await literature.snippets([QUERY], 10, WINDOW)
    assert run.journal.near_remote_papers == ({theirs.id: "semantic_scholar"} if found else {})


async def test_papers_after_cutoff_do_not_count_as_field_coverage() -> None:
    run = a_run(CUTOFF)
    late = a_paper("late", "semantic_scholar", CUTOFF + dt.timedelta(days=1))
    literature = a_literature(run, [], [s2(late)], near=0.1)
    (hits,) = await literature.search([QUERY], 10, Window.later_than(CUTOFF))
    assert [hit.paper.id for hit in hits] == [late.id]
    assert run.journal.near_remote_papers == {}


async def test_failed_retraction_check_is_reported_with_its_source() -> None:
    run = a_run(CUTOFF)
    busy = InMemorySource("openalex", [], failing=SourceBusy("No turn at OpenAlex within 60 s."))
    crossref = InMemorySource("crossref", [a_paper("1", "crossref")])
    literature = a_literature(run, [], [busy, crossref])
    assert await literature.retractions([a_paper("1"), a_paper("2")]) == {}
    assert [(failure.source, failure.operation, failure.reason) for failure in run.journal.list_source_failures()] == [
        ("openalex", "retractions", SourceBusy.reason)
    ]
    assert run.journal.unchecked_for_retraction == {"openalex": 2}
