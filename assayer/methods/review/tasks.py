"""The review's LLM tasks, each with its prompt file, answer schema and check. They have no fallback without a language
model."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assayer.citing.labels import check_each_once, complain_about_unknown_labels
from assayer.llm import AnswerBounds, Cut, LabelledList, Task
from assayer.methods.review.schemas import (
    EditedFinding,
    EditedReview,
    EditedReviewByCriteria,
    EditorQuestion,
    FurtherPoint,
    LookAnswer,
    LookQuestion,
    PassageQuestion,
    PlanScores,
    PlanScoringQuestion,
    ReadingAnswer,
    RefereeAnswer,
    RefereeQuestion,
    WalkthroughAnswer,
    WalkthroughQuestion,
)
from assayer.prompts import Prompts
from assayer.text.sentences import sentences

_PROMPTS = Prompts("assayer.methods.review")
_MARGIN = 60
"""Number of words by which a review may exceed the limit before the editor is asked to shorten it."""
_SILENCE = re.compile(
    r"\b(?:plan|proposal|design|study|protocol|authors?|experiments?|evaluation)\W+(?:(?:has|have|uses?|includes?|contains?|"
    r"makes?|runs?|plans?|offers?|gives?|provides?) (?:no|neither)|lacks?|omits?|ignores?|neglects?|fails? to)\b",
    re.IGNORECASE,
)
"""Matches phrases such as "the plan has no" or "the design lacks", which present something that the plan does not
mention as known to be absent."""


def _check_referee(question: RefereeQuestion, answer: RefereeAnswer) -> list[str]:
    return [] if answer.points else ["`points` is empty: name at least what is most worth keeping or changing."]


def _check_walkthrough(question: WalkthroughQuestion, answer: WalkthroughAnswer) -> list[str]:
    return [] if answer.points else ["`points` is empty: go through the plan sentence by sentence."]


def _check_look(question: LookQuestion, answer: LookAnswer) -> list[str]:
    return complain_about_unknown_labels(answer.labels, (item.label for item in question.shown), "paper")


def _check_reading(question: PassageQuestion, answer: ReadingAnswer) -> list[str]:
    complaints = check_each_once(
        [item.label for item in question.evidence], (item.label for item in answer.papers), "paper"
    )
    noted_points = (note.point for paper in answer.papers for note in paper.notes)
    return [
        *complaints,
        *complain_about_unknown_labels(noted_points, (point.label for point in question.points), "point"),
    ]


def _check_editor(question: EditorQuestion, answer: EditedReview) -> list[str]:
    findings: list[EditedFinding | FurtherPoint] = [*answer.strengths, *answer.major, *answer.further]
    merged_labels = [label for item in (*findings, *answer.paragraphs) for label in item.labels] + answer.dropped
    known_labels = [*(point.label for point in question.points), *(item.label for item in question.novelty)]
    cited_label_lists: list[Sequence[str]] = [finding.cites for finding in findings]
    cited_label_lists += [
        *(item.cites for item in answer.paragraphs),
        answer.soundness.cites,
        answer.contribution.cites,
    ]
    complaints = complain_about_unknown_labels(merged_labels, known_labels, "point")
    passage_labels, recalled_labels = (
        [item.label for item in question.passages],
        [work.label for work in question.named],
    )
    if passage_labels:  # if there are none, citations are ignored
        complaints += complain_about_unknown_labels(
            (label for item in cited_label_lists for label in item), passage_labels, "passage"
        )
        complaints += complain_about_unknown_labels(
            (item.work for item in answer.closest), (*passage_labels, *recalled_labels), "work"
        )
    if recalled_labels:
        referred_labels = [label for item in (*findings, *answer.paragraphs) for label in item.named]
        complaints += complain_about_unknown_labels(referred_labels, recalled_labels, "work from memory")
    return complaints


def _advise_editor(question: EditorQuestion, answer: EditedReview) -> list[str]:
    findings: list[EditedFinding | FurtherPoint] = [*answer.strengths, *answer.major, *answer.further]
    advice = [
        f"{match[0]!r}: a plan's silence is no fact. Write that the plan does not state it."
        for match in (_SILENCE.search(finding.text) for finding in findings)
        if match
    ]
    words = count_edited_words(answer)
    if words > question.words + _MARGIN:
        advice.append(f"The review has {words:,} words. Shorten it to {question.words:,}: cut the least of it.")
    return advice


def _check_criteria(question: EditorQuestion, answer: EditedReviewByCriteria) -> list[str]:
    expected_labels = [item.label for item in question.criteria]
    complaints = check_each_once(expected_labels, (item.label for item in answer.criteria), "criterion")
    if passages := [passage.label for passage in question.passages]:
        complaints += complain_about_unknown_labels(
            (label for item in answer.criteria for label in item.cites), passages, "passage"
        )
    return [*_check_editor(question, answer), *complaints]


def count_edited_words(review: EditedReview) -> int:
    """Count the words that the editor wrote for the page."""
    texts = [review.verdict, *(item.text for item in review.paragraphs)]
    texts += [review.soundness.limited_by, review.contribution.limited_by]
    texts += [
        text for strength in (*review.strengths, *review.major) for text in (strength.lead, strength.text, strength.fix)
    ]
    texts += [item.text for item in review.further]
    texts += [item.difference for item in review.closest]
    return sum(len(text.split()) for text in texts)


def _bound_referee(question: RefereeQuestion) -> AnswerBounds:
    max_entries = {"points": question.most, "prior_work": question.most_named, "novelty": 3}
    return AnswerBounds(entries=max_entries, least={"points": 1})


def _bound_walkthrough(question: WalkthroughQuestion) -> AnswerBounds:
    return AnswerBounds(entries={"points": question.most}, least={"points": 1})


def _bound_brief_referee(question: RefereeQuestion) -> AnswerBounds:
    bounds = _bound_referee(question)
    words = {"overview": 40, "quote": 25, "claim": 25, "why": 30, "fix": 25}
    return bounds._replace(entries={**bounds.entries, "novelty": 2}, words=words)


def _bound_look(question: LookQuestion) -> AnswerBounds:
    return AnswerBounds({"labels": question.most}, {"labels": [item.label for item in question.shown]})


def _bound_reading(question: PassageQuestion) -> AnswerBounds:
    papers = LabelledList([item.label for item in question.evidence])
    return AnswerBounds({}, {"point": [point.label for point in question.points]}, {"papers": papers})


def _bound_brief_reading(question: PassageQuestion) -> AnswerBounds:
    """Limit quotes to the sentences of each paper, because small models do not copy exactly."""
    quotes = [sentences(item.text) or [""] for item in question.evidence]
    papers = LabelledList([item.label for item in question.evidence], {"quote_found": quotes})
    words = {"quote_done": 0, "quote_under": 0}
    return _bound_reading(question)._replace(entries={"notes": 1}, lists={"papers": papers}, words=words)


def _bound_editor(question: EditorQuestion) -> AnswerBounds:
    points = [*(point.label for point in question.points), *(item.label for item in question.novelty)]
    passage_labels, recalled_labels = (
        [item.label for item in question.passages],
        [work.label for work in question.named],
    )
    labels = {
        "labels": points,
        "dropped": points,
        "cites": passage_labels,
        "named": recalled_labels,
        "work": [*passage_labels, *recalled_labels],
    }
    lists = {"criteria": LabelledList([item.label for item in question.criteria])} if question.criteria else {}
    return AnswerBounds({}, labels, lists)


def _bound_brief_editor(question: EditorQuestion) -> AnswerBounds:
    max_entries = {"strengths": 2, "major": 3, "further": 4, "closest": 2, "labels": 3, "dropped": 4}
    words = {"quote": 25, "text": 40, "fix": 20, "limited_by": 20, "verdict": 60}
    return _bound_editor(question)._replace(entries=max_entries, words=words, least={"strengths": 1, "major": 1})


REFEREE = Task[RefereeQuestion, RefereeAnswer](
    "review.referee",
    _PROMPTS,
    "referee.v7.md",
    RefereeAnswer,
    tier="strong",
    max_tokens=5_000,
    check=_check_referee,
    bounds=_bound_referee,
)
WALKTHROUGH = Task[WalkthroughQuestion, WalkthroughAnswer](
    "review.walkthrough",
    _PROMPTS,
    "walkthrough.v2.md",
    WalkthroughAnswer,
    tier="strong",
    max_tokens=6_000,
    check=_check_walkthrough,
    bounds=_bound_walkthrough,
)
SCORES = Task[PlanScoringQuestion, PlanScores](
    "review.scores", _PROMPTS, "scores.v2.md", PlanScores, tier="strong", max_tokens=1_500
)
LOOK = Task[LookQuestion, LookAnswer](
    "review.look",
    _PROMPTS,
    "look.v3.md",
    LookAnswer,
    max_tokens=500,
    check=_check_look,
    bounds=_bound_look,
    cuts=(Cut("shown", "title for the screening"), Cut("points", "point for the title screening")),
)
READING = Task[PassageQuestion, ReadingAnswer](
    "review.reading",
    _PROMPTS,
    "reading.v4.md",
    ReadingAnswer,
    max_tokens=5_000,
    check=_check_reading,
    bounds=_bound_reading,
    cuts=(Cut("evidence", "paper for the points"), Cut("points", "point for the reading of papers")),
)
REFEREE_BRIEF = replace(
    REFEREE, name="review.referee_brief", prompt="referee_brief.v2.md", max_tokens=2_000, bounds=_bound_brief_referee
)
READING_BRIEF = replace(
    READING, name="review.reading_brief", prompt="reading_brief.v1.md", max_tokens=2_000, bounds=_bound_brief_reading
)

EDITOR = Task[EditorQuestion, EditedReview](
    "review.editor",
    _PROMPTS,
    "editor.v11.md",
    EditedReview,
    tier="strong",
    max_tokens=7_000,
    check=_check_editor,
    bounds=_bound_editor,
    advice=_advise_editor,
    cuts=(Cut("passages", "passage for the editor"), Cut("points", "point for the editor")),
)
EDITOR_BRIEF = replace(
    EDITOR, name="review.editor_brief", prompt="editor_brief.v5.md", max_tokens=3_000, bounds=_bound_brief_editor
)
"""Editor task for a short review."""

EDITOR_BY_CRITERIA = Task[EditorQuestion, EditedReviewByCriteria](
    "review.editor_by_criteria",
    _PROMPTS,
    "editor_by_criteria.v10.md",
    EditedReviewByCriteria,
    tier="strong",
    max_tokens=10_000,
    check=_check_criteria,
    bounds=_bound_editor,
    advice=_advise_editor,
    cuts=EDITOR.cuts,
)
"""Editor task that also answers the criteria of the call for proposals."""

ALL = (
    REFEREE,
    REFEREE_BRIEF,
    WALKTHROUGH,
    SCORES,
    LOOK,
    READING,
    READING_BRIEF,
    EDITOR,
    EDITOR_BRIEF,
    EDITOR_BY_CRITERIA,
)
