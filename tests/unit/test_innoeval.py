"""InnoEval up to its board, in memory: rounds, selection, reading, grounding."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel

from assayer.errors import NoFallback, SourceUnavailable
from assayer.llm import NoLlm
from assayer.methods.innoeval.schemas import (
    EvidenceRelevance,
    EvidenceRelevanceQuestion,
    EvidenceRelevances,
    Extraction,
    GroundedFind,
    GroundedPart,
    GroundingQuestion,
    Groundings,
    SearchQueries,
    SearchQueriesQuestion,
    build_queries_schema,
)
from assayer.models import Absent, WebResult, Window
from assayer.plan_review.task import FLAWS, FoundFlaw, FoundFlaws
from assayer.reports.assembly import EvaluationResult
from tests.unit.innoeval_runs import OPTIONS, LongTexts, count_dropped, evaluate_idea, make_twin_backends
from tests.unit.innoeval_world import DownDatasets, TwinDatasets, TwinWeb


async def test_board_receives_top_sources_of_each_kind_read_and_grounded() -> None:
    _, pack = await evaluate_idea(make_twin_backends()[0])
    assert [item.kind for item in pack.before_cutoff] == ["literature"] * 3 + ["web"] * 3 + ["code"] * 3
    assert all(item.text and 0 <= item.score <= 10 for item in pack.before_cutoff)
    assert {grounding.paper_id for grounding in pack.groundings} == {item.paper.id for item in pack.before_cutoff}
    assert all(grounding.quote and grounding.quote.state == "verified" for grounding in pack.groundings)
    assert pack.after_cutoff == ()


async def test_search_is_refined_three_times_while_rounds_find_results() -> None:
    class EndlessWeb(TwinWeb):
        """Web with a new page for every query."""

        async def search(self, queries: Sequence[str], *_: object) -> list[list[WebResult]]:
            return [[WebResult(title=query, url=f"https://x.example.org/{query}", snippet=query)] for query in queries]

    backends, llm = make_twin_backends()
    await evaluate_idea(replace(backends, web=EndlessWeb()), OPTIONS.model_copy(update={"top": 30}))
    assert [name for name, _ in llm.requests].count("innoeval.refinement") == 3


async def test_search_ends_when_a_round_finds_no_new_results() -> None:
    backends, llm = make_twin_backends()
    await evaluate_idea(backends, OPTIONS.model_copy(update={"hits": 40}))
    assert [name for name, _ in llm.requests].count("innoeval.refinement") == 1


async def test_each_source_is_judged_once_across_rounds() -> None:
    backends, llm = make_twin_backends()
    await evaluate_idea(backends, OPTIONS.model_copy(update={"hits": 2}))
    judged_papers = [
        find.paper_id for question in llm.list_questions(EvidenceRelevanceQuestion) for find in question.evidence
    ]
    assert len(judged_papers) == len(set(judged_papers))


async def test_relevance_outweighs_similarity_and_irrelevant_sources_are_dropped() -> None:
    def judge_by_number(question: BaseModel) -> EvidenceRelevances:
        assert isinstance(question, EvidenceRelevanceQuestion)
        return EvidenceRelevances(
            judgements=[
                EvidenceRelevance(
                    label=find.label,
                    reason="By its number.",
                    relevance=10 if find.title.endswith("17") else 5 if find.title.endswith("4") else 2,
                    quality=5,
                )
                for find in question.evidence
            ]
        )

    options = OPTIONS.model_copy(update={"top": 20, "hits": 40})
    evaluation, pack = await evaluate_idea(make_twin_backends({"innoeval.relevance": judge_by_number})[0], options)
    literature = [item for item in pack.before_cutoff if item.kind == "literature"]
    assert literature[0].paper.id == "paper 17"
    assert {item.paper.id for item in literature} == {"paper 17", "paper 4", "paper 14", "paper 24"}
    assert count_dropped(evaluation)["paper", "judged not relevant enough to be read"] == 26


async def test_unavailable_web_search_drops_only_web_queries() -> None:
    class UnavailableWeb(TwinWeb):
        async def search(self, *_: object) -> list[list[WebResult]]:
            raise SourceUnavailable("The web is down.")

    evaluation, pack = await evaluate_idea(replace(make_twin_backends()[0], web=UnavailableWeb()))
    assert {item.kind for item in pack.before_cutoff} == {"literature", "code"}
    assert count_dropped(evaluation)["query for web, code or data", SourceUnavailable.reason] >= 5


async def test_data_sets_are_found_judged_and_shown_with_catalogue_description() -> None:
    archive, unavailable = TwinDatasets("datacite"), DownDatasets("kaggle")
    evaluation, pack = await evaluate_idea(replace(make_twin_backends()[0], datasets=(archive, unavailable)))
    data_sources = [item for item in pack.before_cutoff if item.kind == "data"]
    assert [(item.paper.source, item.full_text) for item in data_sources] == [("datacite", False)] * 3
    assert all(item.text == item.paper.abstract and item.paper.venue == "Dryad" for item in data_sources)
    assert {grounding.paper_id for grounding in pack.groundings} >= {item.paper.id for item in data_sources}
    uses_by_operation = {(source.source, source.operation): source for source in evaluation.report.coverage.sources}
    assert uses_by_operation["datacite", "datasets"].results > 0
    assert {failure.source for failure in evaluation.report.coverage.source_failures} == {"kaggle"}


async def test_missing_language_model_error_names_usable_methods() -> None:
    backends = replace(make_twin_backends()[0], llm=NoLlm())
    with pytest.raises(NoFallback, match="--method scholareval or --method grapheval"):
        await evaluate_idea(backends)


async def test_reranker_determines_the_order_of_papers() -> None:
    class StudyNineReranker:
        name = "backwards"

        async def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float("study 9." in text) for text in texts]

    options = OPTIONS.model_copy(update={"hits": 40, "top": 15})
    evaluation, pack = await evaluate_idea(replace(make_twin_backends()[0], reranker=StudyNineReranker()), options)
    assert pack.before_cutoff[0].paper.id == "paper 9"
    assert "then backwards)" in _search_of(evaluation)
    assert evaluation.report.provenance.reranking_model == "backwards"


def _search_of(evaluation: EvaluationResult) -> str:
    score = evaluation.report.parts[-1].score
    assert isinstance(score, Absent)
    return score.reason


async def test_invented_quote_is_flagged_and_duplicate_groundings_are_merged() -> None:
    def ground_twice(question: BaseModel) -> Groundings:
        assert isinstance(question, GroundingQuestion)
        grounded_part = GroundedPart(
            part="S1", quote="words that nobody ever wrote", analysis="See [P1] at www.x.org/y.", stance="contradicts"
        )
        return Groundings(
            finds=[
                GroundedFind(label=find.label, groundings=[grounded_part, grounded_part]) for find in question.evidence
            ]
        )

    evaluation, pack = await evaluate_idea(make_twin_backends({"innoeval.grounding": ground_twice})[0])
    assert len(pack.groundings) == len(pack.before_cutoff)
    assert {grounding.quote.state for grounding in pack.groundings if grounding.quote} == {"not_found"}
    assert {grounding.analysis for grounding in pack.groundings} == {"See (another paper) at (link removed)"}
    assert evaluation.report.coverage.quotes_unverified == len(pack.before_cutoff)


async def test_report_shows_background_by_idea_part_with_numbered_references() -> None:
    evaluation, pack = await evaluate_idea(make_twin_backends()[0])
    *_, background = evaluation.report.parts
    assert [assessment.name for assessment in background.assessments] == [
        part.name.capitalize() for part in pack.six_tuple.parts
    ]
    labels = {reading.label for assessment in background.assessments for reading in assessment.readings}
    assert labels == {reference.label for reference in evaluation.report.references}
    assert {reference.source for reference in evaluation.report.references} == {"corpus", "web", "github"}
    assert len(evaluation.papers) == len(evaluation.report.references)


async def test_parts_missing_from_the_idea_stay_empty() -> None:
    def extract_little(question: BaseModel) -> Extraction:
        return Extraction(
            tldr="Quotes are checked.", motivations=[], research_questions=[], methods=[], settings=" ", results=None
        )

    def ground_nothing(question: BaseModel) -> Groundings:
        assert isinstance(question, GroundingQuestion)
        return Groundings(finds=[GroundedFind(label=find.label, groundings=[]) for find in question.evidence])

    backends, _ = make_twin_backends({"innoeval.extraction": extract_little, "innoeval.grounding": ground_nothing})
    _, pack = await evaluate_idea(backends)
    assert [part.name for part in pack.six_tuple.parts] == ["summary"]
    assert pack.groundings == ()


async def test_web_queries_are_limited_and_each_part_gets_its_first_query() -> None:
    class CountingWeb(TwinWeb):
        def __init__(self) -> None:
            super().__init__()
            self.queries: list[str] = []

        async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
            self.queries += queries
            return await super().search(queries, limit, window)

    def propose_many_queries(question: BaseModel) -> SearchQueries:
        assert isinstance(question, SearchQueriesQuestion)
        queries_by_kind = {kind: list[str]() for kind in question.kinds}
        entries = [
            {
                "part": part.label,
                **queries_by_kind,
                "literature": [part.name],
                "web": [f"{part.name} a", f"{part.name} b"],
            }
            for part in question.parts
        ]
        return build_queries_schema(question.kinds).model_validate({"queries": entries})

    web = CountingWeb()
    backends = replace(make_twin_backends({"innoeval.queries": propose_many_queries})[0], web=web)
    evaluation, _ = await evaluate_idea(backends, OPTIONS.model_copy(update={"web_queries": 5, "rounds": 0}))
    assert sorted(web.queries) == ["method 1 a", "method 2 a", "motivation 1 a", "research question 1 a", "summary a"]
    assert count_dropped(evaluation)["query for web, code or data", "beyond the limit for one evaluation"] == 5
    assert {(source.source, source.operation) for source in evaluation.report.coverage.sources} == {("web", "web")}


async def test_paper_counts_as_read_in_full_only_beyond_its_abstract() -> None:
    for chars, read in ((5_000, True), (150, False)):
        backends = replace(make_twin_backends()[0], full_texts=LongTexts())
        evaluation, pack = await evaluate_idea(backends, OPTIONS.model_copy(update={"evidence_chars": chars}))
        literature = [item for item in pack.before_cutoff if item.kind == "literature"]
        assert {item.full_text for item in literature} == {read}
        papers_in_full = evaluation.report.coverage.full_texts
        assert (papers_in_full > 0) == read


async def test_plan_flaws_reach_the_board_and_the_report() -> None:
    flaw = FoundFlaw(
        aspect="scope",
        quote="test it on 500 reviews against two baselines",
        text="Reviews of one field say nothing of others.",
        change="",
        certainty="likely",
    )
    backends, _ = make_twin_backends(scripted={FLAWS.name: lambda _: FoundFlaws(flaws=[flaw], comparators=[])})
    evaluation, pack = await evaluate_idea(backends)
    review = evaluation.report.plan_review
    assert review is not None
    assert pack.plan_flaws == review.flaws
    assert [(plan_flaw.text, plan_flaw.quote.state) for plan_flaw in pack.plan_flaws] == [(flaw.text, "verified")]
