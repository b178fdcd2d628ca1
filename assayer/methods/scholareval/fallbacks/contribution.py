"""Contribution without an LLM: the idea's claims beside the nearest sentences of papers."""

import re
from collections.abc import Sequence

import numpy as np

from assayer.methods.scholareval.fallbacks.matching import (
    NEAR,
    QUOTE_WORDS,
    RELEVANCE,
    SAME,
    Row,
    similarity,
    words,
)
from assayer.methods.scholareval.outline import paragraphs
from assayer.methods.scholareval.schemas import (
    Claim,
    ComparedPaper,
    ComparisonQuestion,
    Comparisons,
    Dimension,
    DimensionReview,
    Dimensions,
    DimensionsQuestion,
    PaperVerdicts,
    Queries,
    QueriesQuestion,
    Relevance,
    RelevanceQuestion,
    Relevances,
    StatementQueries,
    SynthesisQuestion,
    Verdict,
)
from assayer.ports import Embedder
from assayer.sentences import sentences

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
    candidates = [one for paragraph in paragraphs(question.idea) for one in sentences(paragraph.text, 10)]
    candidates = candidates or [words(question.idea, 50)]
    nearness = (await similarity([question.idea], candidates, embedder))[0]
    order = np.argsort(-nearness, kind="stable").tolist()
    found: dict[str, list[str]] = {}
    used: set[int] = set()
    for name, cue in _DIMENSION_CUES:
        chosen = [index for index in order if index not in used and re.search(cue, candidates[index], re.I)][:2]
        if chosen:
            used.update(chosen)
            found[name] = [words(candidates[index], 50) for index in chosen]
    found = found or {"Main claims": [words(candidates[index], 50) for index in order[:3]]}
    chosen_dimensions = [Dimension(name=name, statements=texts) for name, texts in found.items()]
    return Dimensions(dimensions=chosen_dimensions[: question.limit])


async def queries(question: QueriesQuestion, embedder: Embedder) -> Queries:
    """Each statement as it stands."""
    return Queries(
        queries=[
            StatementQueries(statement=one.label, queries=[words(one.text, 40, ellipsis="")])
            for one in question.statements
        ]
    )


async def relevance(question: RelevanceQuestion, embedder: Embedder) -> Relevances:
    """By cosine of idea and paper."""
    return Relevances(
        judgements=[
            Relevance(
                label=item.label,
                overlap=f"Cosine {item.similarity or 0.0:.2f} with the idea.",
                score=sum((item.similarity or 0.0) >= least for least in RELEVANCE),
            )
            for item in question.evidence
        ]
    )


async def comparison(question: ComparisonQuestion, embedder: Embedder) -> Comparisons:
    """For each dimension the paper's nearest sentence: the same, near, or nothing near."""
    asked = [one.text for one in question.dimensions]
    compared = []
    for item in question.evidence:
        found = sentences(item.text) or [item.text]
        nearness = await similarity(asked, found, embedder)
        verdicts = [
            _verdict(dimension.label, found, nearness[row]) for row, dimension in enumerate(question.dimensions)
        ]
        compared.append(PaperVerdicts(label=item.label, verdicts=verdicts))
    return Comparisons(comparisons=compared)


def _verdict(dimension: str, found: Sequence[str], nearness: Row) -> Verdict:
    best = int(nearness.argmax())
    value = float(nearness[best])
    if value < NEAR:
        reason = f"Nothing in its text is near this dimension (best cosine {value:.2f})."
        return Verdict(dimension=dimension, reason=reason, quote="", verdict="not_touched")
    same = value >= SAME
    reason = f"Its nearest sentence {'says nearly the same' if same else 'is close'} (cosine {value:.2f})."
    quote = words(found[best], QUOTE_WORDS, ellipsis="")
    return Verdict(dimension=dimension, reason=reason, quote=quote, verdict="already_there" if same else "overlaps")


async def synthesis(question: SynthesisQuestion, embedder: Embedder) -> DimensionReview:
    """Papers that say nearly the same are overlap; a dimension that none of them touches is named as such."""
    nearest = sorted(question.compared, key=lambda paper: paper.verdict != "already_there")[:5]
    same = sum(paper.verdict == "already_there" for paper in nearest)
    total = len(question.compared) + question.untouching
    suggestions = []
    if nearest:
        labels = "".join(f"[{paper.label}]" for paper in nearest[:3])
        suggestions.append(
            Claim(text=f"{question.dimension.name}: set this claim against {labels}; name the difference.")
        )
    return DimensionReview(
        strengths=[],
        weaknesses=[_overlap(question.dimension.name, paper) for paper in nearest[:3]],
        suggestions=suggestions,
        rationale=f"Distance in wording, not novelty: {len(question.compared)} of {total} "
        f"papers have a sentence close to this dimension; {same} of the {len(nearest)} closest say nearly the same.",
        score=round(10 * (1 - (same + 0.5 * (len(nearest) - same)) / 5), 1) if nearest else None,
    )


def _overlap(dimension: str, paper: ComparedPaper) -> Claim:
    much = "says nearly the same" if paper.verdict == "already_there" else "comes close"
    text = f"{dimension}: [{paper.label}] ({paper.year or 'no date'}) {much}: “{words(paper.quote, 32)}”"
    return Claim(text=text)
