"""One comparison: two ideas in one order, before the judge."""

from collections.abc import Sequence

from assayer.models import Idea
from assayer.models.ranking import Comparison, DimensionVerdict, Unread
from assayer.ports import Llm
from assayer.ranking.options import Options
from assayer.ranking.tasks import Question, comparing
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["compare", "unread_of"]

_SIDE = {"A": "first", "B": "second", "tie": "tie"}


async def compare(first: Idea, second: Idea, llm: Llm, run: Run, options: Options) -> Comparison:
    """Raises as `ask`."""
    question = Question(
        dimensions=options.dimensions,
        first=_shown(first, options),
        second=_shown(second, options),
    )
    answer = await ask(llm, comparing(len(question.dimensions)), question, run)
    verdicts = []
    for number, dimension in enumerate(question.dimensions, start=1):
        entry = answer.of(number)
        verdict = {"dimension": dimension.name, "winner": _SIDE[entry.better], "reason": entry.reason}
        verdicts.append(DimensionVerdict.model_validate(verdict))
    return Comparison(first=first.id, second=second.id, verdicts=tuple(verdicts))


def unread_of(ideas: Sequence[Idea], options: Options) -> Unread | None:
    beyond = [len(idea.text) - options.idea_chars for idea in ideas if len(idea.text) > options.idea_chars]
    return Unread(ideas=len(beyond), characters=sum(beyond), limit=options.idea_chars) if beyond else None


def _shown(idea: Idea, options: Options) -> str:
    """A long one up to a whole word, with the sign by which the judge knows that it goes on."""
    if len(idea.text) <= options.idea_chars:
        return idea.text
    return f"{idea.text[: options.idea_chars].rpartition(' ')[0]} […]"
