"""Answers of the scripted panel of `review`, and a run of it."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from assayer.methods.review.schemas import (
    EditedFinding,
    EditedParagraph,
    EditedReview,
    EditedScore,
    EditorQuestion,
    FurtherPoint,
    LookAnswer,
    LookQuestion,
    NearWork,
    NoveltyClaim,
    PaperNotes,
    PassageQuestion,
    PlanContribution,
    PlanScore,
    PlanScores,
    ReadingAnswer,
    ReadingNote,
    RefereeAnswer,
    RefereePoint,
    RefereeQuestion,
    Subject,
    WalkthroughAnswer,
    WalkthroughPoint,
)
from assayer.models import EvidenceRelation, Report
from assayer.models.panel_review import PanelReview
from tests.unit.review_runs import review_idea, script_support
from tests.unit.scholareval_runs import make_twin_backends
from tests.unit.twins import Answerer

DONE = "We train a small reader for a small reader that checks every quoted sentence against the abstract"
PLAN = "We compare it with three baselines on 2,000 annotated claims"


def make_referee_point(claim: str, quote: str = PLAN, **changes: Any) -> RefereePoint:
    values: dict[str, Any] = {"kind": "weakness", "why": "Nothing follows.", "fix": "Name them.", "severity": "major"}
    return RefereePoint(quote=quote, claim=claim, query="checking quotes", **{**values, **changes})


def answer_referee(question: BaseModel) -> RefereeAnswer:
    assert isinstance(question, RefereeQuestion)
    return RefereeAnswer(
        overview="It measures plasticity.",
        points=[
            make_referee_point("Unclear to the referee.", "words that are nowhere"),
            make_referee_point("The three baselines are not named."),
        ],
        novelty=[NoveltyClaim(claim="A small reader that checks quotes.", query="small reader for quotes")],
        prior_work=[],
    )


def script_walkthrough(*texts: str) -> Answerer:
    points = [
        WalkthroughPoint(quote=PLAN, kind="weakness", text=text, query=None)
        for text in texts or ("The three baselines are not named here.", "Annotated claims have unknown agreement.")
    ]
    return lambda _: WalkthroughAnswer(points=points)


def answer_look(question: BaseModel) -> LookAnswer:
    assert isinstance(question, LookQuestion)
    return LookAnswer(labels=[question.shown[0].label, question.shown[0].label])


def script_reading(
    relation: EvidenceRelation,
    quote: str | None = None,
    point: str = "Q1",
    subject: Subject = "same",
    shows: str = "trains a small reader that checks quotes",
) -> Answerer:
    def answer(question: BaseModel) -> ReadingAnswer:
        assert isinstance(question, PassageQuestion)
        item = question.evidence[0]
        first, second = item.text.split(". ")[0], item.text.split(". ")[2].rstrip(".")
        note = ReadingNote(
            point=point,
            quote_done=first if quote is None else quote,
            quote_found=second if quote is None else "",
            quote_under="",
            shows=shows,
            relation=relation,
        )
        return ReadingAnswer(papers=[PaperNotes(label=item.label, subject=subject, notes=[note])])

    return answer


def make_finding(labels: Sequence[str], text: str, *cites: str) -> EditedFinding:
    return EditedFinding(
        labels=list(labels),
        axis="soundness",
        severity="major",
        quote="",
        lead=f"Headline of {text.split(maxsplit=1)[0]}",
        text=text,
        fix="Name them [Q2].",
        cites=list(cites),
        named=[],
    )


def score(value: int | None, *cites: str) -> EditedScore:
    return EditedScore(
        limited_by="Unnamed baselines.", cites=list(cites), certainty_reason="One plan.", certainty="high", score=value
    )


def script_editor(**changes: Any) -> Answerer:
    def answer(question: BaseModel) -> EditedReview:
        assert isinstance(question, EditorQuestion)
        cites = [question.passages[0].label] if question.passages else []
        values: dict[str, Any] = {
            "strengths": [make_finding(["Q1"], "Checking citations matters to every reviewer.", *cites)],
            "major": [
                make_finding(["Q3"], "Baselines are not named, so the gain cannot be placed [E1].", *cites),
                make_finding(["Q2"], "Baselines are not named, so the gain cannot be placed."),
            ],
            "newness": EditedParagraph(
                labels=[], text="Reading citations is known; quoting them is new.", cites=cites, named=[]
            ),
            "outlook": EditedParagraph(
                labels=[], text="Quotes would be checked more often, and a week is enough.", cites=[], named=[]
            ),
            "redesign": EditedParagraph(labels=[], text="Vary one step at a time.", cites=[], named=[]),
            "further": [
                FurtherPoint(
                    labels=["Q4"],
                    axis="contribution",
                    kind="question",
                    text="Which domain is meant?",
                    cites=[],
                    named=[],
                )
            ],
            "closest": [NearWork(work=cite, difference="quotes instead of claims") for cite in cites * 2],
            "soundness": score(42),
            "contribution": score(34, *cites),
            "dropped": [],
            "verdict": "Worth having. The baselines stand in the way. Naming them would move us.",
        }
        return EditedReview(**{**values, **changes})

    return answer


def plan_scores(soundness: int | None, contribution: int | None) -> Answerer:
    """Return the answer of the reader who scores the plan by itself."""
    limits = ("The baselines are weak.", "Parts are known.")

    def answer(_: Any) -> PlanScores:
        return PlanScores(
            soundness=PlanScore(thoughts="Clear.", limited_by=limits[0], beats=9, score=soundness),
            contribution=PlanContribution(thoughts="Useful.", limited_by=limits[1], beats=8, score=contribution),
        )

    return answer


async def run_panel_review(**scripted: Answerer) -> PanelReview:
    review = (await run_panel_report(**scripted)).panel_review
    assert review is not None
    return review


def script_panel(**scripted: Answerer) -> dict[str, Answerer]:
    """Return the answers of a whole panel, some of them scripted otherwise, by the names of the tasks."""
    answers: dict[str, Answerer] = {
        "review.referee": answer_referee,
        "review.walkthrough": script_walkthrough(),
        "review.look": answer_look,
        "review.reading": script_reading("already_has"),
        "review.scores": plan_scores(42, 60),
        "review.editor": script_editor(),
        "support.claims": script_support("supports"),
    }
    return {**answers, **{f"review.{name}": item for name, item in scripted.items()}}


async def run_panel_report(**scripted: Answerer) -> Report:
    backends, _ = make_twin_backends(scripted=script_panel(**scripted))
    return await review_idea(backends)
