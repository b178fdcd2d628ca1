"""One comparison: two ideas in one order, before the judge."""

from assayer.models import Idea
from assayer.models.ranking import Comparison, DimensionVerdict
from assayer.ports import Llm
from assayer.ranking.options import Options
from assayer.ranking.tasks import COMPARISON, Answer, Question
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["compare"]

_SIDE = {"A": "first", "B": "second", "tie": "tie"}


async def compare(first: Idea, second: Idea, llm: Llm, run: Run, options: Options) -> Comparison:
    """Raises as `ask`."""
    question = Question(
        dimensions=options.dimensions,
        first=first.text[: options.idea_chars],
        second=second.text[: options.idea_chars],
    )
    answer: Answer = await ask(llm, COMPARISON, question, run)
    verdicts = []
    for number, dimension in enumerate(question.dimensions, start=1):
        entry = answer.of(number)
        verdict = {"dimension": dimension.name, "winner": _SIDE[entry.better], "reason": entry.reason}
        verdicts.append(DimensionVerdict.model_validate(verdict))
    return Comparison(first=first.id, second=second.id, verdicts=tuple(verdicts))
