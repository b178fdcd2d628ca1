"""The LLM tasks for curation, each with its prompt file, answer schema and check."""

from dataclasses import replace

from assayer.citing.labels import check_each_once
from assayer.citing.quotes import occurs_in
from assayer.curation.options import CandidateTier
from assayer.curation.schemas import (
    KindAnswer,
    PaperQuestion,
    ProposalAnswer,
    ProposalQuestion,
    QuestionAnswer,
    QuestionQuestion,
    ScoringAnswer,
    ScoringQuestion,
    build_scoring_answer_schema,
)
from assayer.ideas.parsing import MIN_WORDS
from assayer.llm import Task
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.prompts import Prompts

_PROMPTS = Prompts("assayer.curation")
_MIN_WORDS, _MAX_WORDS = 6, 70
"""Minimum and maximum number of words in a question: the length that the prompt asks for, with some tolerance."""


def _check_kind(question: PaperQuestion, answer: KindAnswer) -> list[str]:
    if any(occurs_in(answer.quote, text) for text in (question.title, question.abstract)):
        return []
    return ["`quote` does not stand in title or abstract: copy it word for word."]


def _check_question(question: QuestionQuestion, answer: QuestionAnswer) -> list[str]:
    text = answer.question.strip()
    word_count = len(text.split())
    complaints = [] if text.endswith("?") else ["`question` does not end with a question mark."]
    if not _MIN_WORDS <= word_count <= _MAX_WORDS:
        complaints.append(f"`question` has {word_count} words; write 10 to 45.")
    if text.count("?") > 1:
        complaints.append("`question` asks more than one question: write one sentence.")
    return complaints


def _check_proposal(question: ProposalQuestion, answer: ProposalAnswer) -> list[str]:
    word_count = len(answer.idea.split())
    if word_count < MIN_WORDS:
        return [f"`idea` has {word_count} words; that is too short to be judged. Write 200 to 400."]
    if _normalise_text(answer.idea) == _normalise_text(question.question):
        return ["`idea` is the question itself: describe a method that answers it."]
    return []


def _check_scoring(question: ScoringQuestion, answer: ScoringAnswer) -> list[str]:
    labels = [f"D{number}" for number in range(1, len(question.dimensions) + 1)]
    complaints = check_each_once(labels, (entry.label for entry in answer.entries), "dimension")
    if complaints:
        return complaints
    for number, dimension in enumerate(question.dimensions, start=1):
        score = answer.get_entry(number).score
        if score is not None and score not in dimension.scores:
            allowed_scores = ", ".join(f"{item:g}" for item in dimension.scores)
            complaints.append(f"D{number} has no score {score:g}. Choose one of {allowed_scores}.")
    return complaints


def _normalise_text(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:\"'“”")


CLASSIFICATION = Task[PaperQuestion, KindAnswer](
    "curation.classification", _PROMPTS, "classification.v1.md", KindAnswer, max_tokens=1_000, check=_check_kind
)
QUESTION = Task[QuestionQuestion, QuestionAnswer](
    "curation.question",
    _PROMPTS,
    "question.v1.md",
    QuestionAnswer,
    tier="strong",
    max_tokens=1_500,
    check=_check_question,
)
PROPOSAL = Task[ProposalQuestion, ProposalAnswer](
    "curation.proposal",
    _PROMPTS,
    "proposal.v1.md",
    ProposalAnswer,
    tier="strong",
    max_tokens=3_000,
    check=_check_proposal,
)
SCORING = Task[ScoringQuestion, ScoringAnswer](
    "curation.scoring",
    _PROMPTS,
    "scoring.v1.md",
    ScoringAnswer,
    tier="strong",
    max_tokens=2_500,
    check=_check_scoring,
)

ALL = (CLASSIFICATION, QUESTION, PROPOSAL, SCORING)


def build_proposal_task(number: int, tier: CandidateTier, temperature: float) -> Task[ProposalQuestion, ProposalAnswer]:
    """Return the task for one candidate, numbered from 1. Each candidate is requested, paid for and cached
    separately."""
    return replace(PROPOSAL, tier=tier, temperature=temperature, sample=number)


def build_scoring_task(dimensions: tuple[RubricDimension, ...]) -> Task[ScoringQuestion, ScoringAnswer]:
    """Return the scoring task, with its answer schema restricted to these dimensions. All variants share one task
    name."""
    scores = tuple(sorted({score for dimension in dimensions for score in dimension.scores}))
    return replace(SCORING, output=build_scoring_answer_schema(scores, len(dimensions)))
