"""Deterministic answers to the questions on soundness, by nearness of sentences."""

import re
from collections.abc import Sequence

import numpy as np

from assayer.methods.check.text_matching import Cosines, Paragraph, first_words, idea_paragraphs, similarity
from assayer.methods.scholareval.schemas import (
    Claim,
    MethodNote,
    MethodReview,
    Methods,
    MethodsQuestion,
    PaperReading,
    ProposedMethod,
    ReadingQuestion,
    Readings,
    ReviewQuestion,
    SoundnessSummary,
    SummaryQuestion,
)
from assayer.ports import Embedder
from assayer.text.sentences import sentences
from tests.unit.scholareval_answers.cosines import NEAR_COSINE, QUOTE_WORDS, overlap_score

_KIND_CUES = (
    ("ablation", re.compile(r"ablat", re.I)),
    ("study", re.compile(r"participants|user study|survey|interview|cohort|field (study|work)", re.I)),
    ("experiment", re.compile(r"experiment|assay|trial|benchmark|compare", re.I)),
    ("analysis", re.compile(r"analy[sz]|regress|correlat|statistic|estimate", re.I)),
    ("theory", re.compile(r"theor|formal|proof|prove|define", re.I)),
    ("algorithm", re.compile(r"algorithm|train|loss|network|model", re.I)),
)
_RESULT_CUES = re.compile(r"\d|\b(show|find|found|result|outperform|improv|achiev|increas|decreas|significan)", re.I)
_LIMIT_CUES = re.compile(
    r"\b(however|fail|limit|worse|degrad|unreliabl|bias|cannot|does not|no significant|drop)", re.I
)


async def methods(question: MethodsQuestion, embedder: Embedder) -> Methods:
    """The paragraphs on methods and evaluation; the ones nearest to the idea when there are too many."""
    candidates = [
        paragraph
        for paragraph in idea_paragraphs(question.idea)
        if paragraph.kind in ("method", "evaluation") and len(paragraph.text.split()) >= 12
    ]
    candidates = _merged(candidates) or _chunks(question.idea)
    if len(candidates) > question.limit:
        nearness = await similarity([question.idea], [candidate.text for candidate in candidates], embedder)
        keep = sorted(np.argsort(-nearness[0], kind="stable")[: question.limit].tolist())
        candidates = [candidates[index] for index in keep]
    return Methods(methods=[_method(paragraph) for paragraph in candidates])


def _merged(found: Sequence[Paragraph]) -> list[Paragraph]:
    """Paragraphs under one heading of their own are one method; a general heading holds several."""
    merged: list[Paragraph] = []
    for item in found:
        if merged and item.heading == merged[-1].heading and not _is_general(item.heading):
            merged[-1] = merged[-1]._replace(text=f"{merged[-1].text} {item.text}")
        else:
            merged.append(item)
    return merged


def _is_general(heading: str) -> bool:
    return heading.lower().rstrip("s") in ("", "method", "approach", "experiment", "experiment design", "evaluation")


def _chunks(text: str) -> list[Paragraph]:
    """Three sentences at a time, for an idea without headings."""
    found = sentences(text, min_words=1)
    return [Paragraph("", "other", " ".join(found[i : i + 3])) for i in range(0, len(found), 3)] or [
        Paragraph("", "other", text)
    ]


def _method(paragraph: Paragraph) -> ProposedMethod:
    first = (sentences(paragraph.text, min_words=1) or [paragraph.text])[0]
    kind = next((kind for kind, cue in _KIND_CUES if cue.search(paragraph.text)), "system")
    beginning = first_words(first, 9)
    # What a quotation mark opens here is closed in another text, which would look like a title.
    beginning = re.sub('["“”„«»]', "", beginning)
    name = beginning.rstrip(".") if _is_general(paragraph.heading) else first_words(paragraph.heading, 20)
    description = first_words(" ".join(paragraph.text.replace("**", "").split()), 120)
    return ProposedMethod.model_validate(
        {
            "name": name,
            "kind": kind,
            "description": description,
            "queries": [first_words(f"{name}. {description}", 70, ellipsis="")],
        }
    )


async def reading(question: ReadingQuestion, embedder: Embedder) -> Readings:
    """A paper bears on a method when one of its sentences is near one of the method's; that sentence is quoted."""
    asked = {part.label: sentences(part.text) or [part.text] for part in question.parts}
    read = []
    for item in question.evidence:
        found = sentences(item.text) or [item.text]
        notes = []
        for label, said in asked.items():
            nearness = await similarity(said, found, embedder)
            note = _extract(label, said, found, nearness.max(axis=0), nearness.argmax(axis=0))
            notes += [note] if note else []
        read.append(PaperReading(label=item.label, notes=notes))
    return Readings(readings=read)


def _extract(
    method: str, asked: Sequence[str], found: Sequence[str], nearness: Cosines, matches: Cosines
) -> MethodNote | None:
    best = int(nearness.argmax())
    if nearness[best] < NEAR_COSINE:
        return None
    results = [index for index, text in enumerate(found) if _RESULT_CUES.search(text) and index != best]
    result = found[max(results, key=lambda index: nearness[index])] if results else ""
    matched = asked[int(matches[best])]
    return MethodNote(
        method=method,
        did=first_words(found[best], QUOTE_WORDS),
        results=first_words(result, QUOTE_WORDS),
        context=f"(Matched to “{first_words(matched, 16)}”, cosine {nearness[best]:.2f}.)",
        quote=first_words(found[best], QUOTE_WORDS, ellipsis=""),
        stance="neutral",
    )


async def review(question: ReviewQuestion, embedder: Embedder) -> MethodReview:
    """The nearest papers as precedent, their sentences with words of limitation as things to check."""
    nearest = sorted(question.notes, key=lambda note: -(note.similarity or 0.0))
    limits = [note for note in nearest if _LIMIT_CUES.search(f"{note.did} {note.results}")]
    similarities = [note.similarity or 0.0 for note in nearest[:3]]
    mean = sum(similarities) / len(similarities)
    return MethodReview(
        support=[
            Claim(text=f"Precedent in [{note.label}] ({note.year or 'no date'}): “{first_words(note.did, 32)}”")
            for note in nearest[:3]
        ],
        contradictions=[
            Claim(text=f"To check: [{note.label}] mentions a limitation: “{_limit(note.did, note.results)}”")
            for note in limits[:2]
        ],
        suggestions=[
            Claim(
                text="Say how the plan differs from the nearest precedent "
                + "".join(f"[{note.label}]" for note in nearest[:2])
                + ", and which of its results would carry over."
            )
        ],
        rationale=f"Measures precedent, not soundness: mean cosine {mean:.2f} with the nearest papers that have a "
        f"matching sentence ({len(similarities)} of them counted).",
        certainty="low",
        score=overlap_score(mean),
    )


def _limit(method: str, results: str) -> str:
    return first_words(results if _LIMIT_CUES.search(results) else method, 32)


async def summary(question: SummaryQuestion, embedder: Embedder) -> SoundnessSummary:
    """The first point of each kind of the first methods."""

    def first(texts: Sequence[tuple[str, ...]]) -> list[Claim]:
        chosen = [
            f"{review.name}: {points[0]}" for review, points in zip(question.reviews, texts, strict=True) if points
        ]
        return [Claim(text=text) for text in chosen[:3]]

    return SoundnessSummary(
        strengths=first([item.support for item in question.reviews]),
        weaknesses=first([item.contradictions for item in question.reviews]),
        suggestions=first([item.suggestions for item in question.reviews]),
    )
