"""A first look at many papers by their titles, so that only those that bear on the idea are opened and read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.paper_evidence import title_line
from assayer.methods.scholareval.schemas import FirstLookQuestion, LabelledText, Purpose, TitleShown
from assayer.models import Paper, PaperId
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt

__all__ = ["FirstLooker"]


@dataclass(frozen=True)
class FirstLooker:
    """Asks one question a look. What it does not let pass is dropped, with the reason."""

    llm: Llm
    run: Run
    idea: str
    purpose: Purpose
    what: str
    """As the journal calls a paper that is dropped."""

    async def worth_opening(
        self,
        parts: tuple[LabelledText, ...],
        papers: Sequence[Paper],
        similarity: Mapping[PaperId, float],
        most: int,
    ) -> list[Paper]:
        """At most so many, the most telling first. Where the answer was lost, the first of those given: nothing speaks
        against them."""
        if not papers:
            return []
        for paper in papers:
            self.run.journal.check_for_suspicion(paper)
        question = FirstLookQuestion(
            idea=self.idea,
            purpose=self.purpose,
            parts=parts,
            shown=tuple(
                _shown(f"P{number}", one, similarity.get(one.id)) for number, one in enumerate(papers, start=1)
            ),
            most=most,
        )
        answer = await attempt(ask(self.llm, tasks.FIRST_LOOK, question, self.run))
        if isinstance(answer, Failed):
            self.run.keep_successes([answer], "first look at titles")
            return list(papers[:most])
        by_label = {shown.label: paper for shown, paper in zip(question.shown, papers, strict=True)}
        chosen = [by_label[label] for label in dict.fromkeys(answer.labels)][:most]
        self.run.journal.record_dropped(self.what, "its title bears on no part of the idea", len(papers) - len(chosen))
        return chosen


def _shown(label: str, paper: Paper, similarity: float | None) -> TitleShown:
    year = paper.publication_date.year if paper.publication_date else None
    return TitleShown(label=label, title=title_line(paper), year=year, similarity=similarity)
