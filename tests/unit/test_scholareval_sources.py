"""ScholarEval: a corpus that does not cover the field, searches beyond it, and what sources say of papers."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from assayer.methods.scholareval.pipeline import evaluate
from assayer.methods.scholareval.schemas import FirstLook
from assayer.models import (
    Absent,
    FullText,
    Paper,
    PaperId,
    PreprintVersions,
    Report,
    Retraction,
    Score,
    Section,
    Window,
)
from assayer.run.run import Run
from tests.memory_corpus import MemoryCorpus
from tests.unit.scholareval_runs import (
    OPTIONS,
    POOR_FIT,
    evaluate_idea,
    make_backends_beyond_corpus,
    make_corpus_papers,
    make_twin_backends,
    open_context,
)
from tests.unit.twins import Answerer, make_run


async def evaluate_over_poor_corpus(
    min_similarity: float, run: Run | None = None, near: bool = False, scripted: Mapping[str, Answerer] | None = None
) -> Report:
    """Evaluate the idea over a corpus that does not cover its field; searches beyond it may have found near papers."""
    run = run or make_run()
    backends = make_backends_beyond_corpus(run, scripted) if near else make_twin_backends(POOR_FIT, scripted)[0]
    options = OPTIONS.model_copy(update={"least_similarity_in_poor_corpus": min_similarity})
    return (await evaluate(open_context(backends, run, options))).report


def make_run_after_arxiv_search(results: int) -> Run:
    run = make_run()
    run.journal.record_use("arxiv", "search", requests=1, results=results)
    return run


async def test_poor_corpus_coverage_gives_no_score_and_no_references() -> None:
    report = await evaluate_over_poor_corpus(0.99)
    assert report.references == ()
    assert all(isinstance(part.score, Absent) for part in report.parts)
    assert any(notice.kind == "corpus_fit" for notice in report.notices)
    assert any("does not cover the field" in item.reason for item in report.coverage.dropped)


@pytest.mark.parametrize("run", [None, make_run_after_arxiv_search(40)], ids=["corpus alone", "nothing near beyond it"])
async def test_near_papers_in_poor_corpus_are_shown_without_novelty_score(run: Run | None) -> None:
    report = await evaluate_over_poor_corpus(0.0, run)
    assert report.references
    assert all(isinstance(assessment.score, Absent) for assessment in report.parts[1].assessments)


async def test_dimension_without_papers_in_partly_covered_field_says_so() -> None:
    fit = POOR_FIT.model_copy(update={"level": "partial"})
    nothing: Mapping[str, Answerer] = {"scholareval.first_look": lambda _: FirstLook(labels=[])}
    report = (await evaluate(open_context(make_twin_backends(fit, nothing)[0]))).report
    reasons = {item.score.reason for item in report.parts[1].assessments if isinstance(item.score, Absent)}
    assert all(reason.startswith("The corpus covers this field only in part") for reason in reasons)
    assert len(reasons) == 1


async def test_external_search_hits_allow_novelty_score_despite_poor_corpus() -> None:
    report = await evaluate_over_poor_corpus(0.0, make_run_after_arxiv_search(5), near=True)
    assert any(isinstance(assessment.score, Score) for assessment in report.parts[1].assessments)
    notice = next(notice for notice in report.notices if notice.kind == "corpus_fit")
    assert re.search(r"Searches in arxiv found \d+ papers close", notice.text)
    assert report.coverage.corpus_fit == POOR_FIT


async def test_empty_external_search_over_poor_corpus_gives_no_novelty_score() -> None:
    scripted = {"scholareval.first_look": lambda _: FirstLook(labels=[])}
    report = await evaluate_over_poor_corpus(0.0, make_run_after_arxiv_search(5), near=True, scripted=scripted)
    (reason,) = {
        assessment.score.reason for assessment in report.parts[1].assessments if isinstance(assessment.score, Absent)
    }
    assert "a few searches elsewhere found nothing, which does not show novelty" in reason


async def test_retracted_paper_is_marked_in_references_and_announced_in_notice() -> None:
    backends, _ = make_twin_backends()
    notice = Retraction(kind="retracted", source="crossref")
    papers = [corpus_paper.model_copy(update={"retraction": notice}) for corpus_paper in make_corpus_papers()]
    report = await evaluate_idea(replace(backends, literature=MemoryCorpus(papers, backends.embedder)))
    assert {reference.retraction for reference in report.references} == {notice}
    (retraction_notice,) = [item for item in report.notices if item.kind == "retraction"]
    assert "retracted, withdrawn or questioned: [P1]" in retraction_notice.text


async def test_report_names_sources_not_checked_for_retractions() -> None:
    run = make_run()
    run.journal.unchecked_for_retraction["openalex"] = 7
    report = await evaluate_idea(make_twin_backends()[0], run)
    (unchecked_notice,) = [notice for notice in report.notices if notice.kind == "unchecked_retractions"]
    assert "openalex (7 cited papers)" in unchecked_notice.text


async def test_report_lists_texts_possibly_revised_after_cutoff() -> None:
    cutoff = dt.date(2024, 6, 30)
    revised = PreprintVersions(first=dt.date(2020, 1, 1), newest=2, newest_day=cutoff + dt.timedelta(days=1))
    backends, _ = make_twin_backends()
    papers = [corpus_paper.model_copy(update={"versions": revised}) for corpus_paper in make_corpus_papers()]
    for within_window, is_listed in ((False, True), (True, False)):
        texts = CorpusTexts(within_window)
        literature = MemoryCorpus(papers if is_listed else make_corpus_papers(), backends.embedder)
        world = replace(backends, literature=literature, full_texts=texts)
        report = await evaluate_idea(world, make_run(cutoff))
        notices = [notice.text for notice in report.notices if notice.kind == "undated_version"]
        assert report.coverage.full_texts > 0
        assert bool(notices) == is_listed
        if is_listed:
            assert re.search(r"cutoff, 2024-06-30.*: the full texts of \d+ papers; the abstracts of \d+", notices[0])
    report = await evaluate_idea(replace(backends, full_texts=CorpusTexts(False)), make_run())
    assert not any(notice.kind == "undated_version" for notice in report.notices)


class CorpusTexts:
    def __init__(self, within_window: bool) -> None:
        self._within_window = within_window

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        section = Section(title="Methods", text="We train a reader on two thousand annotated claims, and test it. " * 5)
        return {
            paper.id: FullText(
                paper_id=paper.id, sections=(section,), parser="corpus", within_window=self._within_window
            )
            for paper in papers
        }
