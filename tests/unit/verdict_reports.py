"""A verdict of GraphEval and reports that hold it."""

import datetime as dt

from assayer.models import (
    Absent,
    ClassProbability,
    GraphUsed,
    IdeaId,
    NeighbourViewpoint,
    Report,
    Summary,
    Verdict,
    ViewpointEvidence,
)
from tests.unit.reports_fixture import make_full_report

GRAPH = GraphUsed(
    name="default",
    version="0f0f",
    ideas=120,
    labelled=100,
    viewpoints=900,
    embedding_model="mini",
    extractor="splitter v1",
    outcomes=("reject", "workshop", "accept"),
    ordered=True,
)


def make_neighbour(text: str, label: str | None, url: str = "https://example.org/1") -> NeighbourViewpoint:
    """Return a viewpoint of another idea."""
    return NeighbourViewpoint(
        text=text,
        idea=IdeaId(f"id of {text}"),
        title=f"Paper on {text}",
        url=url,
        date=dt.date(2017, 4, 1),
        label=label,
        similarity=0.8,
    )


SHARED_NEIGHBOUR = make_neighbour("replay buffers", "accept")
VERDICT = Verdict(
    decision="accept",
    probabilities=(
        ClassProbability(name="reject", probability=0.31, low=0.25, high=0.4, rate=0.6),
        ClassProbability(name="workshop", probability=0.1, low=0.05, high=0.2, rate=0.1),
        ClassProbability(name="accept", probability=0.59, low=0.5, high=0.7, rate=0.3),
    ),
    scorer="label propagation",
    calibration="icml, 2026-01-01: 100 ideas",
    choice=Absent(reason="none was chosen."),
    graph=GRAPH,
    extractor="splitter v1",
    viewpoints=7,
    evidence=(
        ViewpointEvidence(
            text="We replay old examples.",
            words="We replay old examples.",
            self_contained=True,
            leaning="accept",
            influence=0.123,
            neighbours=(SHARED_NEIGHBOUR, make_neighbour("forgetting", "reject")),
        ),
        ViewpointEvidence(
            text="It forgets <b>nothing</b>.",
            words="It forgets nothing.",
            self_contained=False,
            leaning=None,
            influence=0.0,
            neighbours=(SHARED_NEIGHBOUR, make_neighbour("<script>alert(1)</script>", None, "javascript:alert(1)")),
        ),
    ),
    repeats=None,
)


def make_report_with_verdict(verdict: Verdict | Absent, verdict_only: bool = True) -> Report:
    """Return the full report with a verdict; if `verdict_only`, the verdict is all that it holds."""
    changes: dict[str, object] = {"verdict": verdict}
    if verdict_only:
        changes |= {"parts": (), "summary": Summary(strengths=(), weaknesses=(), suggestions=()), "method": "grapheval"}
    return make_full_report().model_copy(update=changes)
