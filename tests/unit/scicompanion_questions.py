"""A question of every task of SciCompanion: what the rendering of its prompts is checked with."""

from typing import Any

from pydantic import BaseModel

from assayer.llm import Task
from assayer.methods.scicompanion import tasks
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.schemas import (
    AskedQuery,
    DimensionQuestion,
    GraphPaper,
    NotedEntry,
    ShownEdge,
    ShownNode,
    StateQuestion,
)
from assayer.models import PaperId

EMPTY = StateQuestion(
    title="Checking quotes",
    idea="Reviews quote papers wrongly. We build a checker.",
    papers=(),
    nodes=(),
    edges=(),
    notebook=(),
    refused=(),
    asked=(),
    step=0,
    steps=3,
    limit=6,
    edits=24,
    fit="good",
    day=None,
)
FULL = EMPTY.model_copy(
    update={
        "papers": (
            GraphPaper(
                label="P1",
                paper_id=PaperId("one"),
                title="Quoted sentences",
                year=2020,
                text="In 40 of 100 reviews a quote was not found in its source.",
                new=True,
            ),
        ),
        "nodes": (ShownNode(label="N2", kind="claim", name="Quotes are often wrong.", note="Counted in reviews."),),
        "edges": (
            ShownEdge(
                label="E1",
                source="N1",
                target="N2",
                kind="supports",
                basis="quoted",
                paper="P1",
                statement="It counts them.",
                quote="In 40 of 100 reviews a quote was not found",
            ),
            ShownEdge(
                label="E2", source="N1", target="N3", kind="cites", basis="record", paper="", statement="", quote=""
            ),
        ),
        "notebook": (NotedEntry(step=1, text="Quotes are often wrong [P1]."),),
        "refused": ("add “A” uses N9: there is no node N9",),
        "asked": (
            AskedQuery(query="quoted sentences reviews", brought=("P1",)),
            AskedQuery(query="wrong citations", brought=()),
        ),
        "step": 2,
        "fit": "partial",
    }
)
_FIELDS = {name: getattr(FULL, name) for name in StateQuestion.model_fields}
DIMENSION = SciCompanionOptions().load_rubric()[1]
QUESTIONS: list[tuple[Task[Any, Any], BaseModel]] = [
    (tasks.QUERIES, FULL),
    (tasks.STEP, FULL),
    (tasks.COMPLETION, FULL),
    (tasks.TRACE, FULL),
    (tasks.build_judging_task(DIMENSION), DimensionQuestion(**_FIELDS, dimension=DIMENSION)),
]
