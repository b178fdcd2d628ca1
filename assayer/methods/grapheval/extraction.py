"""An idea taken apart: by the language model where there is one, else by the splitter, and checked either way."""

from collections.abc import Sequence

from assayer.errors import LlmError, LlmRejected, LlmUnavailable
from assayer.methods.grapheval.faithfulness import IdeaWords, faithful
from assayer.methods.grapheval.schemas import LabelledViewpoint, RelationsQuestion, ViewpointsQuestion
from assayer.methods.grapheval.splitter import SPLITTER, leans_back, split
from assayer.methods.grapheval.tasks import RELATIONS, VIEWPOINTS
from assayer.methods.grapheval.viewpoints import Viewpoint, Viewpoints
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["extract", "maker", "relate"]


def maker(llm: Llm) -> str:
    """Who takes ideas apart, with everything that changes the viewpoints."""
    return f"{VIEWPOINTS.name} v{VIEWPOINTS.version}, {', '.join(llm.models)}" if llm.models else SPLITTER


async def extract(text: str, llm: Llm, run: Run, most: int) -> Viewpoints:
    """At most `most` viewpoints. Where the model gives nothing usable the splitter takes over, and that is journalled
    and told by the result. Raises RunCancelled, BudgetExhausted, LlmRejected or LlmUnavailable."""
    if not llm.models:
        return Viewpoints(viewpoints=split(text, most), maker=SPLITTER)
    try:
        answer = await ask(llm, VIEWPOINTS, ViewpointsQuestion(idea=text, limit=most), run)
    except (LlmRejected, LlmUnavailable):
        raise
    except LlmError as error:
        run.journal.fail("extraction of viewpoints by the model, done by the splitter instead", error)
        return Viewpoints(viewpoints=split(text, most), maker=SPLITTER)
    given = [
        Viewpoint(text=one.statement, words=one.words, self_contained=not leans_back(one.statement))
        for one in answer.viewpoints
    ]
    kept, refused = faithful(given, IdeaWords(text))
    for one in refused:
        run.journal.drop("viewpoint", f"unfaithful to the idea: {one.reason}")
    return Viewpoints(viewpoints=kept, maker=maker(llm), refused=refused)


async def relate(text: str, viewpoints: Sequence[Viewpoint], llm: Llm, run: Run) -> list[tuple[int, int]]:
    """Pairs of related viewpoints, by their places; none where the model names none or gives nothing usable.

    Supporting and opposing pairs alike join viewpoints of one idea, which has one label: both are plain edges.
    """
    labelled = tuple(LabelledViewpoint(label=f"V{n}", text=one.text) for n, one in enumerate(viewpoints, start=1))
    try:
        answer = await ask(llm, RELATIONS, RelationsQuestion(idea=text, viewpoints=labelled), run)
    except (LlmRejected, LlmUnavailable):
        raise
    except LlmError as error:
        run.journal.fail("relations between viewpoints", error)
        return []
    return [(int(one.first[1:]) - 1, int(one.second[1:]) - 1) for one in answer.relations]
