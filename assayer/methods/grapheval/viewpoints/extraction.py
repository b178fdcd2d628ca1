"""Extract viewpoints, and prepare many labelled ideas for a graph. A language model extracts the viewpoints, or the
splitter if there is no model; the model's viewpoints are checked against the idea."""

from collections.abc import Callable, Sequence

import numpy as np

from assayer.errors import InputError, LlmError, LlmRejected, LlmUnavailable
from assayer.llm import Llm, ask
from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea, Viewpoint, Viewpoints
from assayer.methods.grapheval.schemas import LabelledViewpoint, RelationsQuestion, ViewpointsQuestion
from assayer.methods.grapheval.tasks import RELATIONS, VIEWPOINTS
from assayer.methods.grapheval.viewpoints.faithfulness import IdeaWords, check_faithfulness
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, refers_back, split_viewpoints
from assayer.ports import Embedder
from assayer.run.concurrency import gather_all
from assayer.run.run import Run


def name_extractor(llm: Llm) -> str:
    """Return the viewpoint extractor's name, including everything that changes its output: task, version and model, or
    the splitter."""
    return f"{VIEWPOINTS.name} v{VIEWPOINTS.version}, {', '.join(llm.models)}" if llm.models else SPLITTER


async def extract_viewpoints(text: str, llm: Llm, run: Run, limit: int) -> Viewpoints:
    """Extract up to `limit` viewpoints. If the model returns nothing usable, the splitter is used instead: the journal
    records this, and the result names the extractor. Raises BudgetExhausted, or LlmRejected or LlmUnavailable if the
    endpoint fails."""
    if not llm.models:
        return Viewpoints(viewpoints=split_viewpoints(text, limit), maker=SPLITTER)
    try:
        answer = await ask(llm, VIEWPOINTS, ViewpointsQuestion(idea=text, limit=limit), run)
    except (LlmRejected, LlmUnavailable):
        raise
    except LlmError as error:
        run.journal.record_failure("extraction of viewpoints by the model, done by the splitter instead", error)
        return Viewpoints(viewpoints=split_viewpoints(text, limit), maker=SPLITTER)
    extracted_viewpoints = [
        Viewpoint(text=viewpoint.statement, words=viewpoint.words, self_contained=not refers_back(viewpoint.statement))
        for viewpoint in answer.viewpoints
    ]
    kept_viewpoints, refusals = check_faithfulness(extracted_viewpoints, IdeaWords(text))
    for item in refusals:
        run.journal.record_dropped("viewpoint", f"unfaithful to the idea: {item.reason}")
    return Viewpoints(viewpoints=kept_viewpoints, maker=name_extractor(llm), refused=refusals)


async def relate_viewpoints(text: str, viewpoints: Sequence[Viewpoint], llm: Llm, run: Run) -> list[tuple[int, int]]:
    """Ask the model which viewpoints are related, and return them as pairs of positions. Empty if it names none or
    gives no usable answer. Supporting and opposing pairs are treated alike, because an idea has only one label."""
    labelled_viewpoints = tuple(
        LabelledViewpoint(label=f"V{n}", text=viewpoint.text) for n, viewpoint in enumerate(viewpoints, start=1)
    )
    try:
        answer = await ask(llm, RELATIONS, RelationsQuestion(idea=text, viewpoints=labelled_viewpoints), run)
    except (LlmRejected, LlmUnavailable):
        raise
    except LlmError as error:
        run.journal.record_failure("relations between viewpoints", error)
        return []
    return [(int(relation.first[1:]) - 1, int(relation.second[1:]) - 1) for relation in answer.relations]


_BATCH_SIZE = 32

RelatedPairs = tuple[tuple[int, int], ...]
ProgressCallback = Callable[[int, int], None]
"""Callback that receives the number of finished ideas and the total."""


async def prepare_ideas(
    ideas: Sequence[LabelledIdea],
    plan: GraphPlan,
    embedder: Embedder,
    llm: Llm,
    run: Run,
    limit: int,
    characters: int,
    progress: ProgressCallback = lambda done, total: None,
) -> list[PreparedIdea]:
    """Prepare ideas for a graph, in order, with up to `limit` viewpoints from the first `characters` characters of
    each. Raises InputError if an idea contains no statement, and the same errors as `extract_viewpoints`."""
    prepared_ideas: list[PreparedIdea] = []
    for start in range(0, len(ideas), _BATCH_SIZE):
        batch = ideas[start : start + _BATCH_SIZE]
        extractions = await gather_all(_prepare_viewpoints(idea, plan, llm, run, limit, characters) for idea in batch)
        texts = [viewpoint.text for item, _ in extractions for viewpoint in item.viewpoints]
        vectors = await embedder.embed(texts, "passage")
        ends = np.cumsum([len(item.viewpoints) for item, _ in extractions])
        parts = np.split(vectors, ends[:-1])
        prepared_ideas += [
            PreparedIdea(idea, item, part, pairs)
            for idea, (item, pairs), part in zip(batch, extractions, parts, strict=True)
        ]
        progress(len(prepared_ideas), len(ideas))
    return prepared_ideas


async def _prepare_viewpoints(
    idea: LabelledIdea, plan: GraphPlan, llm: Llm, run: Run, limit: int, characters: int
) -> tuple[Viewpoints, RelatedPairs]:
    text = idea.text[:characters]
    if plan.maker == SPLITTER:
        extraction = Viewpoints(viewpoints=split_viewpoints(text, limit), maker=SPLITTER)
    else:
        extraction = await extract_viewpoints(text, llm, run, limit)
    if not extraction.viewpoints:
        raise InputError(
            f"Idea {idea.id!r} contains no statement to compare: {text[:60]!r}.",
            "It needs at least one complete sentence.",
        )
    if not (plan.relations and llm.models):
        return extraction, ()
    return extraction, tuple(await relate_viewpoints(text, extraction.viewpoints, llm, run))
