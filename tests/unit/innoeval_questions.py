"""One question for each task of InnoEval's search, as its prompt file renders it."""

from typing import Any

from pydantic import BaseModel

from assayer.llm import Task
from assayer.methods.innoeval import tasks
from assayer.methods.innoeval.schemas import (
    EvidenceItem,
    EvidenceRelevanceQuestion,
    ExtractionQuestion,
    GroundingQuestion,
    LabelledPart,
    RefinementQuestion,
    SearchQueriesQuestion,
    TriedQuery,
    TriedQueryResult,
)
from assayer.models import PaperId

IDEA = (
    "# Checking quotes before reviews are read\n\nReviews quote papers wrongly. We build a checker that compares every "
    "quoted sentence with its source, and test it on 500 reviews against two baselines."
)
DIGEST = (
    "Title: Checking quotes before reviews are read\n\nSummary: A checker compares quoted sentences with sources.\n\n"
    "Method 1: A reader is trained on 2,000 annotated quotes."
)
PARTS = (
    LabelledPart(label="S1", name="summary", text="A checker compares quoted sentences of reviews with their sources."),
    LabelledPart(label="S2", name="method 1", text="A reader is trained on 2,000 annotated quotes of 500 reviews."),
)
FINDS = tuple(
    EvidenceItem(
        label=f"P{number}",
        paper_id=PaperId(f"find-{number}"),
        title=f"Wrong quotes, part {number}",
        year=2020 + number if number < 3 else None,
        text="We compare quotes with sources. One in three was wrong, and nobody had noticed it in review.",
        full_text=number == 2,
        kind="code",
        standing="Python, 12 stars" if number == 1 else "",
    )
    for number in (1, 2, 3)
)
TRIED_QUERIES = (
    TriedQuery(
        label="Q1",
        kind="literature",
        part="method 1",
        query="quote verification reader",
        found=10,
        relevant=1,
        finds=(
            TriedQueryResult(title="Wrong quotes, part 1", worth_reading=True),
            TriedQueryResult(title="Wrong quotes, part 2", worth_reading=False),
        ),
    ),
    TriedQuery(label="Q2", kind="web", part="summary", query="quotes in reviews", found=0, relevant=0, finds=()),
)
REFINEMENT_QUESTION = RefinementQuestion(digest=DIGEST, tried=TRIED_QUERIES, limit=6)
GROUNDING = GroundingQuestion(digest=DIGEST, parts=PARTS, evidence=FINDS)
QUESTIONS: tuple[tuple[Task[Any, Any], BaseModel], ...] = (
    (tasks.EXTRACTION, ExtractionQuestion(idea=IDEA)),
    (tasks.QUERIES, SearchQueriesQuestion(digest=DIGEST, parts=PARTS, kinds=("literature", "web"))),
    (tasks.RELEVANCE, EvidenceRelevanceQuestion(digest=DIGEST, kind="code", evidence=FINDS)),
    (tasks.build_refinement_task(REFINEMENT_QUESTION.limit), REFINEMENT_QUESTION),
    (tasks.GROUNDING, GROUNDING),
)
