"""Screen many papers by title, so that only those relevant to the idea are opened and read."""

from collections.abc import Mapping, Sequence

from assayer.evaluation_context import EvaluationContext
from assayer.literature.work_versions import keep_one_paper_per_work
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import format_title
from assayer.methods.scholareval.schemas import FirstLookQuestion, LabelledText, Purpose, TitleShown
from assayer.models import Paper, PaperId
from assayer.run.concurrency import Failed

_NOUNS: dict[Purpose, str] = {"soundness": "paper for the methods", "contribution": "candidate paper"}
"""Names for dropped papers in the journal, keyed by purpose."""


async def shortlist_by_title(
    context: EvaluationContext[ScholarEvalOptions],
    purpose: Purpose,
    parts: tuple[LabelledText, ...],
    papers: Sequence[Paper],
    similarity: Mapping[PaperId, float],
) -> list[Paper]:
    """Choose up to `options.opened` papers, most relevant first, with a single LLM request.

    If the request fails, the papers are taken in order, since there is no reason to exclude any."""
    journal, limit = context.run.journal, context.options.opened
    if not papers:
        return []
    works = keep_one_paper_per_work(papers)
    journal.record_dropped(_NOUNS[purpose], "another record of the same work", len(papers) - len(works))
    papers = works
    for paper in papers:
        journal.record_if_suspicious(paper)
    question = FirstLookQuestion(
        purpose=purpose,
        parts=parts,
        shown=tuple(
            build_shown_title(f"P{number}", item, similarity.get(item.id))
            for number, item in enumerate(papers, start=1)
        ),
        most=limit,
    )
    answer = await context.try_to_ask(tasks.FIRST_LOOK, question, "first look at titles")
    if isinstance(answer, Failed):
        return list(papers[:limit])
    by_label = {shown_title.label: paper for shown_title, paper in zip(question.shown, papers, strict=True)}
    chosen_papers = [by_label[label] for label in dict.fromkeys(answer.labels)][:limit]
    journal.record_dropped(
        _NOUNS[purpose], "its title is not relevant to any part of the idea", len(papers) - len(chosen_papers)
    )
    return chosen_papers


def build_shown_title(label: str, paper: Paper, similarity: float | None = None) -> TitleShown:
    return TitleShown(label=label, title=format_title(paper), year=paper.year, similarity=similarity)
