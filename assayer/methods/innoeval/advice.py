"""Advice on revision from what was published after the cutoff. No reviewer saw it."""

from assayer.evidence import MARKER, check_quote, plain, point
from assayer.methods.innoeval.board_schemas import AdviceQuestion, LaterStep, Weakness
from assayer.methods.innoeval.board_tasks import ADVICE
from assayer.methods.innoeval.dossier import Dossier
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.reviewing import Judged, shown
from assayer.methods.innoeval.schemas import Find
from assayer.models import Point
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["advise"]

_MOST_WEAKNESSES = 12


async def advise(llm: Llm, run: Run, dossier: Dossier, judged: Judged, chars: int) -> tuple[Point, ...]:
    """Raises an LlmError, BudgetExhausted or RunCancelled."""
    weaknesses = _weaknesses(judged)
    evidence = shown(dossier.after, chars)
    question = AdviceQuestion(digest=digest(dossier.idea.title, dossier.six), weaknesses=weaknesses, evidence=evidence)
    answer = await ask(llm, ADVICE, question, run)
    finds = {find.label: find for find in evidence}
    named = {one.label: one for one in weaknesses}
    return tuple(_point(step, finds, named) for step in answer.steps)


def _weaknesses(judged: Judged) -> tuple[Weakness, ...]:
    """Each reviewer's weightiest first, over all dimensions. Finds that they cite are of no use beside later ones."""
    firsts = [
        (dimension.title, _without_citations(text))
        for rank in range(3)
        for dimension, reviews in judged
        for review in reviews
        for text in review.texts("weakness")[rank : rank + 1]
    ]
    distinct = list(dict.fromkeys(firsts))[:_MOST_WEAKNESSES]
    return tuple(
        Weakness(label=f"W{number}", dimension=title, text=text)
        for number, (title, text) in enumerate(distinct, start=1)
    )


def _without_citations(text: str) -> str:
    return " ".join(MARKER.sub("", text).split())


def _point(step: LaterStep, finds: dict[str, Find], weaknesses: dict[str, Weakness]) -> Point:
    find = finds[step.label]
    answered = weaknesses.get(step.weakness or "")
    aim = f"On {answered.dimension.lower()}: " if answered else ""
    quoted = check_quote(step.quote, find.shown)
    return point(
        "suggestion",
        f"{aim}{plain(step.change)} Later work shows: {plain(step.shows)} [{step.label}]",
        {step.label: find.paper_id},
        {find.paper_id: quoted} if quoted else {},
    )
