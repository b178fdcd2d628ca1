"""Local first, topped up from remote sources, merged, and accounted for."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest

from assayer.errors import SourceBusy, SourceMalformed, SourceUnavailable
from assayer.models import CorpusFit, FieldOrigin, Identifiers, Paper, PaperId, Retraction, Window
from assayer.run.run import Run
from tests.in_memory import InMemorySource
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import make_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature import LiteratureSettings
from workers.literature.federated_literature import FederatedLiterature, FederatedLiteratureFactory

CUTOFF = dt.date(2024, 6, 30)
WINDOW = Window.until(CUTOFF)
EMBEDDER = HashingEmbedder()
GOOD_FIT = CorpusFit(level="good", value=0.6, criterion="given by the test")
POOR_FIT = CorpusFit(level="poor", value=0.1, criterion="given by the test")
QUERY = "checking quotes of generated reviews"


def make_paper(key: str, source: str = "corpus", day: dt.date | None = CUTOFF, **fields: object) -> Paper:
    values = {
        "title": f"Checking quotes of generated reviews, study {key}",
        "abstract": f"Quotes of generated reviews are checked by readers, study {key}.",
        "authors": ("Ada Lovelace",),
        "publication_date": day,
        "identifiers": Identifiers(doi=f"10.1000/{key}"),
    }
    return Paper.model_validate({**values, "id": f"{source}-{key}", "source": source, **fields})


def make_literature(
    run: Run,
    local: Sequence[Paper] = (),
    sources: Sequence[InMemorySource] = (),
    fit: CorpusFit = POOR_FIT,
    references: Mapping[PaperId, Sequence[PaperId]] | None = None,
    **settings: object,
) -> FederatedLiterature:
    corpus = MemoryCorpus(local, EMBEDDER, references=references, fit=fit)
    makers = {source.name: (lambda run, source=source: source) for source in sources}
    return FederatedLiteratureFactory(corpus, makers, LiteratureSettings.model_validate(settings)).for_run(run)


def make_semantic_scholar(*papers: Paper, **options: object) -> InMemorySource:
    return InMemorySource("semantic_scholar", papers, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fit", "min_similarity", "is_searched"), [(POOR_FIT, 0.1, True), (GOOD_FIT, 0.999, True), (GOOD_FIT, 0.1, False)]
)
async def test_remote_sources_are_searched_when_corpus_fit_or_similarity_is_poor(
    fit: CorpusFit, min_similarity: float, is_searched: bool
) -> None:
    source = make_semantic_scholar(make_paper("other", "semantic_scholar"))
    literature = make_literature(
        make_run(CUTOFF), [make_paper(str(number)) for number in range(8)], [source], fit, near=min_similarity
    )
    await literature.fit("the idea", WINDOW)
    (hits,) = await literature.search([QUERY], 20, WINDOW)
    assert bool(source.requests) == is_searched
    assert ("semantic_scholar" in {hit.paper.source for hit in hits}) == is_searched
    assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)


async def test_outdated_corpus_is_supplemented_with_newer_remote_papers() -> None:
    early = dt.date(2023, 1, 31)
    source = make_semantic_scholar(
        make_paper("older", "semantic_scholar", dt.date(2022, 1, 1)), make_paper("newer", "semantic_scholar")
    )
    local = [make_paper(str(number), day=early) for number in range(8)]
    literature = make_literature(make_run(CUTOFF), local, [source], GOOD_FIT, near=0.1)
    await literature.fit("the idea", WINDOW)
    (hits,) = await literature.search([QUERY], 20, WINDOW)
    assert [hit.paper.id for hit in hits if hit.paper.source != "corpus"] == ["semantic_scholar-newer"]


async def test_remote_record_of_a_corpus_paper_is_merged_under_corpus_id() -> None:
    corpus_paper = make_paper("1", citation_count=None, abstract="Quotes of generated reviews are …")
    remote_paper = make_paper("1", "semantic_scholar", citation_count=40)
    literature = make_literature(make_run(CUTOFF), [corpus_paper], [make_semantic_scholar(remote_paper)])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    (paper,) = [hit.paper for hit in hits]
    assert (paper.id, paper.source, paper.citation_count) == (corpus_paper.id, "corpus", 40)
    assert FieldOrigin(field="citation_count", source="semantic_scholar") in paper.origins


async def test_late_and_undated_remote_papers_are_excluded() -> None:
    class UnfilteredSource(InMemorySource):
        async def search(self, *_: object) -> list[Paper]:
            return list(self.papers)

    late = CUTOFF + dt.timedelta(days=1)
    known_paper, seed_paper = make_paper("known", "arxiv"), make_paper("seed", "arxiv")
    papers = [known_paper, seed_paper, make_paper("late", "arxiv", late), make_paper("undated", "arxiv", None)]
    source = UnfilteredSource("arxiv", papers, cited={seed_paper.id: [paper.id for paper in papers]})
    literature = make_literature(make_run(CUTOFF), [], [source])
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    assert {hit.paper.id for hit in hits} == {known_paper.id, seed_paper.id}
    for found_papers in (
        [hit.paper for hit in (await literature.neighbours([seed_paper.id], 10, WINDOW))[seed_paper.id]],
        (await literature.references([seed_paper.id], 10, WINDOW))[seed_paper.id],
        [snippet.paper for snippet in (await literature.snippets([QUERY], 10, WINDOW))[0]],
    ):
        assert {paper.id for paper in found_papers} <= {known_paper.id, seed_paper.id}
        assert found_papers


async def test_record_dated_after_the_cutoff_adds_nothing_to_a_paper_known_before() -> None:
    preprint = make_paper("1", "arxiv", dt.date(2024, 1, 1), abstract="As posted.")
    published = make_paper("1", "semantic_scholar", dt.date(2024, 12, 1), abstract="As revised, with results of later.")
    literature = make_literature(
        make_run(CUTOFF), [], [make_semantic_scholar(published), InMemorySource("arxiv", [preprint])]
    )
    (hits,) = await literature.search([QUERY], 10, WINDOW)
    assert [hit.paper for hit in hits] == [preprint]


async def test_failed_source_is_reported_and_other_sources_answer() -> None:
    run = make_run(CUTOFF)
    failing_source = InMemorySource(
        "openalex", [make_paper("1", "openalex")], failing=SourceUnavailable("OpenAlex is down.")
    )
    garbled = InMemorySource("arxiv", [], failing=SourceMalformed("arXiv sent half a feed."))
    literature = make_literature(
        run, [], [failing_source, garbled, make_semantic_scholar(make_paper("2", "semantic_scholar"))]
    )
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
    run, source = make_run(CUTOFF), make_semantic_scholar(make_paper("1", "semantic_scholar"))
    literature = make_literature(run, [], [source], questions=5, questions_at_once=3)
    for number in range(4):
        await literature.search([f"{QUERY} {number} {part}" for part in "abcdef"], 10, WINDOW)
    assert len(source.requests) == 5
    (dropped,) = [item for item in run.journal.list_dropped() if item.item_kind == "question to a remote source"]
    assert dropped.count == 24 - 5


async def test_least_answered_queries_are_sent_first() -> None:
    sent_queries = []

    class RecordingSource(InMemorySource):
        async def search(self, query: str, *_: object) -> list[Paper]:
            sent_queries.append(query)
            return []

    local = [make_paper(str(number)) for number in range(3)]
    literature = make_literature(make_run(CUTOFF), local, [RecordingSource("arxiv", [])], questions_at_once=1)
    await literature.search([QUERY, "tidal heating of icy moons"], 10, WINDOW)
    assert sent_queries == ["tidal heating of icy moons"]


async def test_papers_that_a_snippet_cites_are_fetched_in_one_request() -> None:
    cited = [
        make_paper(f"cited{number}", "semantic_scholar", title=f"Tide {number}", abstract="") for number in range(6)
    ]
    citing = make_paper("citing", "semantic_scholar")
    source = make_semantic_scholar(citing, *cited, cited={citing.id: [paper.id for paper in cited]})
    literature = make_literature(make_run(CUTOFF), [], [source])
    (passages,) = await literature.snippets([QUERY], 10, WINDOW)
    (passage,) = passages
    assert len(passage.cites) == 6
    cited_papers = await literature.papers(passage.cites, WINDOW)
    assert {paper.title for paper in cited_papers.values()} == {paper.title for paper in cited}
    assert list(cited_papers) == list(passage.cites)
    assert [method for method, _ in source.requests] == ["snippets", "resolve"]
    await literature.papers(passage.cites, WINDOW)
    assert len(source.requests) == 2


async def test_missing_corpus_references_are_fetched_from_first_source_that_has_them() -> None:
    known_paper, unknown_paper, old_paper = make_paper("known"), make_paper("unknown"), make_paper("old")
    remote = [make_paper("unknown", "openalex"), make_paper("cited", "openalex")]
    first = InMemorySource("semantic_scholar", [])
    second = InMemorySource("openalex", remote, cited={remote[0].id: [remote[1].id]})
    literature = make_literature(
        make_run(CUTOFF),
        [known_paper, unknown_paper, old_paper],
        [first, second],
        references={known_paper.id: [old_paper.id]},
    )
    await literature.search([QUERY], 10, WINDOW)
    references = await literature.references([known_paper.id, unknown_paper.id], 10, WINDOW)
    assert {key: [paper.id for paper in cited] for key, cited in references.items()} == {
        known_paper.id: [old_paper.id],
        unknown_paper.id: [remote[1].id],
    }


async def test_missing_citing_papers_are_fetched_from_first_source_that_has_them() -> None:
    known_paper, unknown_paper, follower = make_paper("known"), make_paper("unknown"), make_paper("follower")
    late = make_paper("late", "openalex", CUTOFF + dt.timedelta(days=1))
    remote = [make_paper("unknown", "openalex"), make_paper("citing", "openalex"), late]
    first = InMemorySource("semantic_scholar", [])
    second = InMemorySource("openalex", remote, cited={item.id: [remote[0].id] for item in remote[1:]})
    run = make_run(CUTOFF)
    literature = make_literature(
        run, [known_paper, unknown_paper, follower], [first, second], references={follower.id: [known_paper.id]}
    )
    await literature.search([QUERY], 10, WINDOW)
    citing_papers = await literature.citing([known_paper.id, unknown_paper.id], 10, WINDOW)
    assert {key: [paper.id for paper in citing] for key, citing in citing_papers.items()} == {
        known_paper.id: [follower.id],
        unknown_paper.id: [remote[1].id],
    }
    assert [method for method, _ in second.requests] == ["search", "citing"]
    assert ("corpus", "citations") in {
        (source_use.source, source_use.operation) for source_use in run.journal.list_source_uses()
    }


async def test_similarity_is_computed_the_same_way_for_corpus_and_remote_papers() -> None:
    corpus_paper, remote_paper = make_paper("1"), make_paper("2", "semantic_scholar")
    literature = make_literature(make_run(CUTOFF), [corpus_paper], [make_semantic_scholar(remote_paper)])
    await literature.search([QUERY], 10, WINDOW)
    similarities = await literature.similarity(QUERY, [corpus_paper.id, remote_paper.id, PaperId("unheard of")])
    corpus = MemoryCorpus([corpus_paper, remote_paper], EMBEDDER)
    assert similarities == pytest.approx(await corpus.similarity(QUERY, [corpus_paper.id, remote_paper.id]), abs=1e-6)


async def test_retractions_are_checked_in_a_batch_and_the_most_serious_is_kept() -> None:
    run, papers = make_run(CUTOFF), [make_paper(str(number)) for number in range(4)]
    remote_papers = [make_paper(str(number), "crossref") for number in range(4)]
    retracted = Retraction(kind="retracted", source="crossref", notice="10.1000/notice")
    crossref = InMemorySource("crossref", remote_papers, retracted={remote_papers[2].id: retracted})
    openalex = InMemorySource(
        "openalex", remote_papers, retracted={remote_papers[2].id: Retraction(kind="concern", source="openalex")}
    )
    literature = make_literature(run, papers, [openalex, crossref])
    nameless = make_paper("nameless", identifiers=Identifiers())
    assert await literature.retractions([*papers, nameless]) == {papers[2].id: retracted}
    assert [method for method, _ in [*crossref.requests, *openalex.requests]] == ["retractions"] * 2
    (dropped,) = [
        item for item in run.journal.list_dropped() if item.item_kind == "check of a cited paper for retraction"
    ]
    assert dropped.count == 1


class TickingClock:
    """A clock that only a test moves."""

    seconds = 0.0

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def monotonic(self) -> float:
        return self.seconds


class SlowSource(InMemorySource):
    """A source that answers each search after 40 seconds of a clock."""

    clock: TickingClock

    async def search(self, *args: object) -> list[Paper]:
        self.clock.seconds += 40.0
        return await super().search(*args)  # type: ignore[arg-type]


def make_slow_source(run: Run, name: str) -> SlowSource:
    run.clock = TickingClock()
    source = SlowSource(name, [make_paper("1", name)])
    source.clock = run.clock
    return source


async def test_waiting_time_for_a_source_is_limited_per_evaluation() -> None:
    run = make_run(CUTOFF)
    slow = make_slow_source(run, "arxiv")
    literature = make_literature(run, [], [slow], patience_seconds=60.0)
    for number in range(3):
        await literature.search([f"{QUERY} {number}"], 10, WINDOW)
    assert [context.patience for _, context in slow.requests] == [60.0, 20.0, 0.0]
    assert {context.owner for _, context in slow.requests} == {run.id}


async def test_retraction_checks_have_a_separate_waiting_time_limit() -> None:
    run = make_run(CUTOFF)
    slow = make_slow_source(run, "openalex")
    literature = make_literature(run, [], [slow], patience_seconds=30.0, retraction_seconds=45.0)
    await literature.search([QUERY], 10, WINDOW)
    await literature.retractions([make_paper("1")])
    assert [(method, context.patience) for method, context in slow.requests] == [
        ("search", 30.0),
        ("retractions", 45.0),
    ]


async def test_corpus_answers_alone_without_remote_sources_and_use_is_recorded() -> None:
    run = make_run(CUTOFF)
    papers = [make_paper(str(number)) for number in range(3)]
    literature = make_literature(run, papers)
    corpus = MemoryCorpus(papers, EMBEDDER)
    assert await literature.search([QUERY, "tides"], 2, WINDOW) == await corpus.search([QUERY, "tides"], 2, WINDOW)
    assert literature.version == corpus.version
    (source_use,) = run.journal.list_source_uses()
    assert (source_use.source, source_use.operation, source_use.requests, source_use.results) == (
        "corpus",
        "search",
        2,
        4,
    )


def test_version_names_corpus_and_sources() -> None:
    literature = make_literature(make_run(), [], [make_semantic_scholar(), InMemorySource("arxiv", [])])
    assert literature.version == "memory-0 + semantic_scholar + arxiv"


@pytest.mark.parametrize(("min_similarity", "is_covered"), [(0.2, True), (0.999, False)])
async def test_only_similar_remote_papers_count_as_field_coverage(min_similarity: float, is_covered: bool) -> None:
    run = make_run(CUTOFF)
    remote_paper = make_paper("theirs", "semantic_scholar")
    corpus_paper, remote_copy = make_paper("ours"), make_paper("ours", "semantic_scholar")
    literature = make_literature(
        run, [corpus_paper], [make_semantic_scholar(remote_paper, remote_copy)], near=min_similarity
    )
    await literature.search([QUERY], 10, WINDOW)
    await literature.snippets([QUERY], 10, WINDOW)
    assert run.journal.near_remote_papers == ({remote_paper.id: "semantic_scholar"} if is_covered else {})


async def test_papers_after_cutoff_do_not_count_as_field_coverage() -> None:
    run = make_run(CUTOFF)
    late = make_paper("late", "semantic_scholar", CUTOFF + dt.timedelta(days=1))
    literature = make_literature(run, [], [make_semantic_scholar(late)], near=0.1)
    (hits,) = await literature.search([QUERY], 10, Window.later_than(CUTOFF))
    assert [hit.paper.id for hit in hits] == [late.id]
    assert run.journal.near_remote_papers == {}


async def test_failed_retraction_check_is_reported_with_its_source() -> None:
    run = make_run(CUTOFF)
    busy = InMemorySource("openalex", [], failing=SourceBusy("No turn at OpenAlex within 60 s."))
    crossref = InMemorySource("crossref", [make_paper("1", "crossref")])
    literature = make_literature(run, [], [busy, crossref])
    assert await literature.retractions([make_paper("1"), make_paper("2")]) == {}
    assert [(failure.source, failure.operation, failure.reason) for failure in run.journal.list_source_failures()] == [
        ("openalex", "retractions", SourceBusy.reason)
    ]
    assert run.journal.unchecked_for_retraction == {"openalex": 2}
