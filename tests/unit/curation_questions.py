"""A question for every task of curation, and answers that its check accepts."""

from typing import Any

from pydantic import BaseModel

from assayer.curation.dimensions import load_score_dimensions
from assayer.curation.schemas import PaperQuestion, ProposalQuestion, QuestionQuestion, RefusedQuestion, ScoringQuestion
from assayer.curation.tasks import CLASSIFICATION, PROPOSAL, QUESTION, build_scoring_task
from assayer.llm import Task
from assayer.models.curation import ResearchQuestion, SourcePaper

TITLE = "Counting Cells by Diffusing Heat"
ABSTRACT = (
    "Counting touching cells in microscope images needs outlines that experts draw by hand. "
    "We propose to diffuse heat from random seeds over a graph of superpixels and to cut where temperatures part. "
    "Experiments on three collections show that most outlines agree with experts."
)
CLEAN = "How can touching cells in microscope images be counted without outlines that experts draw?"
LEAKING = "How can heat diffused from random seeds over a graph of superpixels count cells?"

PAPER = SourcePaper(id="p1", title=TITLE, abstract=ABSTRACT, source="papers.jsonl:1")
RESEARCH_QUESTION = ResearchQuestion(id="p1", text=CLEAN, source="curated.jsonl:1")
DIMENSIONS = load_score_dimensions()

QUESTIONS: tuple[tuple[Task[Any, Any], BaseModel], ...] = (
    (CLASSIFICATION, PaperQuestion(title=TITLE, abstract=ABSTRACT)),
    (QUESTION, QuestionQuestion(title=TITLE, abstract=ABSTRACT)),
    (
        QUESTION,
        QuestionQuestion(title=TITLE, abstract=ABSTRACT, refused=(RefusedQuestion(text=LEAKING, repeated=("heat",)),)),
    ),
    (PROPOSAL, ProposalQuestion(question=CLEAN)),
    (build_scoring_task(DIMENSIONS), ScoringQuestion(idea="A plan.", question=CLEAN, dimensions=DIMENSIONS)),
    (build_scoring_task(DIMENSIONS), ScoringQuestion(idea="A plan.", question=None, dimensions=DIMENSIONS)),
)
