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
    POOR,
    backends_beyond_corpus,
    context_of,
    corpus_papers,
    evaluated,
    twin_backends,
)
from tests.unit.twins import Answerer, a_run


async def poorly_covered(
    least: float, run: Run | None = None, near: bool = False, scripted: Mapping[str, Answerer] | None = None
) -> Report:
    """Evaluate the idea over a corpus that does not cover its field; searches beyond it may have found near papers."""
    run = run or a_run()
    backends = backends_beyond_corpus(run, scripted) if near else twin_backends(POOR, scripted)[0]
    options = OPTIONS.model_copy(update={"least_similarity_in_poor_corpus": least})
    return (await evaluate(context_of(backends, run, options))).report


def searched_arxiv(results: int) -> Run:
    run = a_run()
    run.journal.record_use("arxiv", "search", requests=1, results=results)
    return run


async def test_poor_corpus_coverage_gives_no_score_and_no_references() -> None:
    report = await poorly_covered(0.99)
    assert report.references == ()
    assert all(isinstance(part.score, Absent) for part in report.parts)
    assert any(notice.kind == "corpus_fit" for notice in report.notices)
    assert any("does not cover the field" in item.reason for item in report.coverage.dropped)


@pytest.mark.parametrize("run", [None, searched_arxiv(40)], ids=["corpus alone", "nothing near beyond it"])
async def test_near_papers_in_poor_corpus_are_shown_without_novelty_score(run: Run | None) -> None:
    report = await poorly_covered(0.0, run)
    assert report.references
    assert all(isinstance(assessment.score, Absent) for assessment in report.parts[1].assessments)


async def test_dimension_without_papers_in_partly_covered_field_says_so() -> None:
    fit = POOR.model_copy(update={"level": "partial"})
    nothing: Mapping[str, Answerer] = {"scholareval.first_look": lambda _: FirstLook(labels=[])}
    report = (await evaluate(context_of(twin_backends(fit, nothing)[0]))).report
    reasons = {item.score.reason for item in report.parts[1].assessments if isinstance(item.score, Absent)}
    assert all(reason.startswith("The corpus covers this field only in part") for reason in reasons)
    assert len(reasons) == 1


async def test_external_search_hits_allow_novelty_score_despite_poor_corpus() -> None:
    report = await poorly_covered(0.0, searched_arxiv(5), near=True)
    assert any(isinstance(assessment.score, Score) for assessment in report.parts[1].assessments)
    notice = next(notice for notice in report.notices if notice.kind == "corpus_fit")
    assert re.search(r"Searches in arxiv found \d+ papers close", notice.text)
    assert report.coverage.corpus_fit == POOR


async def test_empty_external_search_over_poor_corpus_gives_no_novelty_score() -> None:
    nothing = {"scholareval.first_look": lambda _: FirstLook(labels=[])}
    report = await poorly_covered(0.0, searched_arxiv(5), near=True, scripted=nothing)
    (reason,) = {
        assessment.score.reason for assessment in report.parts[1].assessments if isinstance(assessment.score, Absent)
    }
    assert "a few searches elsewhere found nothing, which does not show novelty" in reason


async def test_retracted_paper_is_marked_in_references_and_announced_in_notice() -> None:
    backends, _ = twin_backends()
    notice = Retraction(kind="retracted", source="crossref")
    papers = [corpus_paper.model_copy(update={"retraction": notice}) for corpus_paper in corpus_papers()]
    report = await evaluated(replace(backends, literature=MemoryCorpus(papers, backends.embedder)))
    assert {reference.retraction for reference in report.references} == {notice}
    (told,) = [item for item in report.notices if item.kind == "retraction"]
    assert "retracted, withdrawn or questioned: [P1]" in told.text


async def test_report_names_sources_not_checked_for_retractions() -> None:
    run = a_run()
    run.journal.unchecked_for_retraction["openalex"] = 7
    report = await evaluated(twin_backends()[0], run)
    (told,) = [notice for notice in report.notices if notice.kind == "unchecked_retractions"]
    assert "openalex (7 cited papers)" in told.text


async def test_report_lists_texts_possibly_revised_after_cutoff() -> None:
    cutoff = dt.date(2024, 6, 30)
    revised = PreprintVersions(first=dt.date(2020, 1, 1), newest=2, newest_day=cutoff + dt.timedelta(days=1))
    backends, _ = twin_backends()
    papers = [corpus_paper.model_copy(update={"versions": revised}) for corpus_paper in corpus_papers()]
    for within_window, told in ((False, True), (True, False)):
        texts = _Texts(within_window)
        literature = MemoryCorpus(papers if told else corpus_papers(), backends.embedder)
        world = replace(backends, literature=literature, full_texts=texts)
        report = await evaluated(world, a_run(cutoff))
        notices = [notice.text for notice in report.notices if notice.kind == "undated_version"]
        assert report.coverage.full_texts > 0
        assert bool(notices) == told
        if told:
            assert re.search(r"cutoff, 2024-06-30.*: the full texts of \d+ papers; the abstracts of \d+", notices[0])
    report = await evaluated(replace(backends, full_texts=_Texts(False)), a_run())
    assert not any(notice.kind == "undated_version" for notice in report.notices)


class _Texts:
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
