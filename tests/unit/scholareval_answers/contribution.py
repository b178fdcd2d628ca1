"""Deterministic answers to the questions on contribution, by nearness of sentences."""

import re
from collections.abc import Sequence

import numpy as np

from assayer.methods.check.text_matching import Cosines, first_words, idea_paragraphs, similarity
from assayer.methods.scholareval.schemas import (
    Claim,
    ComparedPaper,
    ComparisonQuestion,
    Comparisons,
    ContributionDimension,
    DimensionReview,
    Dimensions,
    DimensionsQuestion,
    NoveltyVerdict,
    PaperVerdicts,
    SynthesisQuestion,
)
from assayer.ports import Embedder
from assayer.text.sentences import sentences
from tests.unit.scholareval_answers.cosines import NEAR_COSINE, QUOTE_WORDS, SAME_COSINE

_DIMENSION_CUES = (
    (
        "Method or system",
        r"\b(propos|develop|build|design|train|algorithm|architecture|model|system|pipeline|protocol)",
    ),
    ("Problem and framing", r"\b(hypothes|question|gap|framework|formali|theor|defin|challenge|problem)"),
    ("Data or materials", r"\b(datasets?|corpus|benchmark|recordings|samples|collect|annotat|specimens|cell lines?)\b"),
    ("Evaluation and evidence", r"\b(evaluat|experiment|compar|measur|metric|participants|validat|test whether)"),
)


async def dimensions(question: DimensionsQuestion, embedder: Embedder) -> Dimensions:
    """Sentences that speak of a contribution, grouped by what they speak about."""
    candidates = [
        sentence for paragraph in idea_paragraphs(question.idea) for sentence in sentences(paragraph.text, 10)
    ]
    candidates = candidates or [first_words(question.idea, 50)]
    nearness = (await similarity([question.idea], candidates, embedder))[0]
    order = np.argsort(-nearness, kind="stable").tolist()
    found: dict[str, list[str]] = {}
    used: set[int] = set()
    for name, cue in _DIMENSION_CUES:
        chosen = [index for index in order if index not in used and re.search(cue, candidates[index], re.I)][:2]
        if chosen:
            used.update(chosen)
            found[name] = [first_words(candidates[index], 50) for index in chosen]
    found = found or {"Main claims": [first_words(candidates[index], 50) for index in order[:3]]}
    chosen_dimensions = [
        ContributionDimension(
            name=name, statements=texts, queries=[first_words(text, 40, ellipsis="") for text in texts]
        )
        for name, texts in found.items()
    ]
    return Dimensions(dimensions=chosen_dimensions[: question.limit])


async def comparison(question: ComparisonQuestion, embedder: Embedder) -> Comparisons:
    """Return, for each dimension with a near sentence in the paper, that sentence and whether it is the same or
    near."""
    asked = [entry.text for entry in question.parts]
    compared = []
    for item in question.evidence:
        found = sentences(item.text) or [item.text]
        nearness = await similarity(asked, found, embedder)
        verdicts = [
            _verdict(part.label, found, nearness[row])
            for row, part in enumerate(question.parts)
            if float(nearness[row].max()) >= NEAR_COSINE
        ]
        compared.append(PaperVerdicts(label=item.label, verdicts=verdicts))
    return Comparisons(comparisons=compared)


def _verdict(dimension: str, found: Sequence[str], nearness: Cosines) -> NoveltyVerdict:
    best = int(nearness.argmax())
    value = float(nearness[best])
    same = value >= SAME_COSINE
    reason = f"Its nearest sentence {'says nearly the same' if same else 'is close'} (cosine {value:.2f})."
    quote = first_words(found[best], QUOTE_WORDS, ellipsis="")
    return NoveltyVerdict(
        dimension=dimension, reason=reason, quote=quote, verdict="paper_has_it" if same else "paper_has_part"
    )


async def synthesis(question: SynthesisQuestion, embedder: Embedder) -> DimensionReview:
    """Papers that say nearly the same are overlap; a dimension that none of them touches is named as such."""
    nearest = sorted(question.compared, key=lambda paper: paper.verdict != "paper_has_it")[:5]
    same = sum(paper.verdict == "paper_has_it" for paper in nearest)
    total = len(question.compared) + question.untouching
    suggestions = []
    if nearest:
        labels = "".join(f"[{paper.label}]" for paper in nearest[:3])
        suggestions.append(
            Claim(text=f"{question.dimension.name}: compare this claim with {labels} and state the difference.")
        )
    return DimensionReview(
        strengths=[],
        weaknesses=[_overlap(question.dimension.name, paper) for paper in nearest[:3]],
        suggestions=suggestions,
        rationale=f"Measures distance in wording, not novelty: {len(question.compared)} of {total} "
        f"papers have a sentence close to this dimension; {same} of the {len(nearest)} closest say nearly the same.",
        certainty="low",
        score=round(10 * (1 - (same + 0.5 * (len(nearest) - same)) / 5), 1) if nearest else None,
    )


def _overlap(dimension: str, paper: ComparedPaper) -> Claim:
    much = "says nearly the same" if paper.verdict == "paper_has_it" else "comes close"
    text = f"{dimension}: [{paper.label}] ({paper.year or 'no date'}) {much}: “{first_words(paper.quote, 32)}”"
    return Claim(text=text)
