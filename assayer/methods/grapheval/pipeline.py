"""GraphEval: split an idea into viewpoints, connect these to the viewpoints of ideas with known outcomes, and score the
idea from them.

It follows "GraphEval: A Lightweight Graph-Based LLM Framework for Idea Evaluation" (2025), sections 3 to 5. Evidence
comes first; an outcome is named only if the calibration is more informative than the class frequencies."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.backends import Backends
from assayer.errors import ConfigurationError, InputError
from assayer.evaluation_context import EvaluationContext
from assayer.methods.grapheval.explanation import explain_verdict
from assayer.methods.grapheval.graph.growth import build_edges_from_relations, find_edges_by_cosine
from assayer.methods.grapheval.graph.records import Viewpoint, Viewpoints, count_days_since_1970
from assayer.methods.grapheval.judge import GraphJudge, PlacedIdea
from assayer.methods.grapheval.options import METHOD, GraphEvalOptions
from assayer.methods.grapheval.plagiarism import LIMITS_BY_EMBEDDER, NearbyViewpoint, find_resemblance_to_neighbours
from assayer.methods.grapheval.scoring.baselines import LENGTH
from assayer.methods.grapheval.scoring.calibration import AbstentionReason, ProbabilityCalibration
from assayer.methods.grapheval.viewpoints.extraction import extract_viewpoints, relate_viewpoints
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import (
    Absent,
    ClassProbability,
    IdeaId,
    Notice,
    RepeatedIdea,
    RepeatedViewpoint,
    ScorerChoice,
    Summary,
    Verdict,
)
from assayer.ports import Vectors
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report

_NO_CORPUS = Absent(reason="GraphEval compares ideas with labelled ideas, not with a corpus of papers.")
_WEAK_SIGNAL = (
    "This verdict is based on how similar the idea's text is to ideas with a known outcome. That says little about "
    "quality: on real decisions, such scores are hardly better than the base rates alone. Read the neighbours, and "
    "take the probabilities as the past record of ideas that sound like this one."
)
_NO_BETTER_THAN_LENGTH = (
    "on held-out ideas, the length of the text separates outcomes at least as well as the chosen scorer."
)
_ABSTENTIONS: dict[AbstentionReason, str] = {
    "nothing known": "the probabilities differ from the base rates by no more than their uncertainty.",
    "undecided": "the two most probable outcomes cannot be distinguished.",
    "unanswered": "no viewpoint of this idea is close enough to one with a known outcome.",
}


async def evaluate(context: EvaluationContext[GraphEvalOptions], judge: GraphJudge) -> EvaluationResult:
    """Evaluate an idea by comparing it with labelled ideas. Raises InputError if it contains no statement,
    ConfigurationError if the embedding model is not the graph's, BudgetExhausted, and LlmRejected or LlmUnavailable if
    the endpoint fails."""
    verdict = await _build_verdict(context, judge)
    findings = Findings(
        summary=Summary(strengths=(), weaknesses=(), suggestions=()),
        parts=(),
        corpus_fit=_NO_CORPUS,
        verdict=verdict,
        notices=_list_notices(verdict),
        corpus_version=f"viewpoint graph {verdict.graph.name}, {verdict.graph.version}",
    )
    return await assemble_report(METHOD, context, findings, reads_literature=False)


async def _build_verdict(context: EvaluationContext[GraphEvalOptions], judge: GraphJudge) -> Verdict:
    idea, text, run, options = context.idea, context.text, context.run, context.options
    extraction = await _extract_viewpoints(context, judge)
    vectors = await _embed_viewpoints(extraction, context.backends, judge)
    if judge.contents.plan.relations and context.has_model:
        relations = await relate_viewpoints(text, extraction.viewpoints, context.llm, run)
        inner_edges = build_edges_from_relations(vectors, relations)
    else:
        inner_edges = find_edges_by_cosine(vectors, judge.contents.plan.intra)

    cutoff = count_days_since_1970(run.cutoff)
    placed_idea = judge.place(idea, vectors, inner_edges, cutoff, text)
    run.journal.record_dropped("labelled idea", "is the evaluated idea itself", len(placed_idea.same_ideas))
    late_count = int((~judge.find_known_ideas(cutoff)).sum())
    run.journal.record_dropped("labelled idea", "known only after the cutoff, or undated", late_count)
    run.journal.record_use(
        f"viewpoint graph {options.graph}", "neighbours", len(vectors), int((placed_idea.nearest.rows >= 0).sum())
    )

    placed_idea = await judge.prepare(placed_idea)
    scores = judge.score(placed_idea)
    decision, probabilities = _decide_by_calibration(scores, judge.calibration)
    if not isinstance(decision, Absent) and _is_beaten_by_length(judge.choice):
        decision = Absent(reason=_NO_BETTER_THAN_LENGTH)
    return Verdict(
        decision=decision,
        probabilities=probabilities,
        scorer=judge.scorer_name,
        calibration=_describe_calibration(judge.calibration),
        choice=judge.choice,
        graph=judge.graph_used,
        extractor=extraction.maker,
        viewpoints=len(extraction.viewpoints),
        evidence=explain_verdict(
            extraction.viewpoints, placed_idea, scores, judge, options.explained, options.shown_neighbours
        ),
        repeats=find_repeated_idea(idea.id, extraction.viewpoints, placed_idea, judge),
    )


async def _extract_viewpoints(context: EvaluationContext[GraphEvalOptions], judge: GraphJudge) -> Viewpoints:
    """Extract viewpoints, if possible in the same way as for the graph's ideas, so that the viewpoints are
    comparable."""
    text, options, run = context.text, context.options, context.run
    by_splitter = judge.contents.plan.maker == SPLITTER
    if by_splitter:
        extraction = Viewpoints(viewpoints=split_viewpoints(text, len(text)), maker=SPLITTER)
    else:
        extraction = await extract_viewpoints(text, context.llm, run, options.viewpoints)
    surplus = len(extraction.viewpoints) - options.viewpoints
    run.journal.record_dropped("viewpoint", f"beyond the first {options.viewpoints}", max(0, surplus))
    if not extraction.viewpoints:
        raise InputError(
            f"{context.idea.source} contains no statement to compare.", "Write at least one complete sentence."
        )
    return extraction.model_copy(update={"viewpoints": extraction.viewpoints[: options.viewpoints]})


async def _embed_viewpoints(extraction: Viewpoints, backends: Backends, judge: GraphJudge) -> Vectors:
    plan = judge.contents.plan
    if backends.embedder.name != plan.embedder:
        raise ConfigurationError(
            f"The graph {plan.name!r} was made with the embedding model {plan.embedder}, but the configured model is "
            f"{backends.embedder.name}.",
            "Set ASSAYER_EMBEDDER__MODEL to the graph's model, or build a different graph.",
        )
    return await backends.embedder.embed([viewpoint.text for viewpoint in extraction.viewpoints], "passage")


def _decide_by_calibration(
    scores: NDArray[np.float64], calibration: ProbabilityCalibration | Absent
) -> tuple[str | Absent, tuple[ClassProbability, ...]]:
    """Return the outcome decided on, or why there is none, and the probabilities of all outcomes."""
    if isinstance(calibration, Absent):
        return Absent(reason=calibration.reason), ()
    (verdict,) = calibration.calibrate(scores[None, :])
    if verdict.abstention == "unanswered":
        return Absent(reason=_ABSTENTIONS["unanswered"]), ()
    rates = calibration.rates
    probabilities = tuple(
        ClassProbability(
            name=name,
            probability=round(float(verdict.probabilities[row]), 4),
            low=round(float(verdict.low[row]), 4),
            high=round(float(verdict.high[row]), 4),
            rate=round(rates[row] / sum(rates), 4),
        )
        for row, name in enumerate(calibration.classes)
    )
    if verdict.abstention is not None or verdict.best is None:
        return Absent(reason=_ABSTENTIONS[verdict.abstention or "undecided"]), probabilities
    return calibration.classes[verdict.best], probabilities


def _describe_calibration(calibration: ProbabilityCalibration | Absent) -> str | Absent:
    if isinstance(calibration, Absent):
        return calibration
    source = calibration.provenance
    files = ", ".join(file.name for file in source.files)
    ideas = sum(source.counts.values())
    return f"{calibration.name}, {source.made_at:%Y-%m-%d}: {ideas} ideas from {files or 'the graph'}, {source.split}"


def _list_notices(verdict: Verdict) -> tuple[Notice, ...]:
    """Return the notices that readers need before the verdict."""
    weak_signal = Notice(kind="weak_signal", text=f"{_WEAK_SIGNAL} {_describe_quality(verdict.choice)}".strip())
    if verdict.extractor == verdict.graph.extractor:
        return (weak_signal, *list_repetition_notices(verdict.repeats))
    text = (
        f"The graph's viewpoints were extracted by {verdict.graph.extractor}, those of this idea by "
        f"{verdict.extractor}. Viewpoints from different extractors look less similar, whatever their content."
    )
    return weak_signal, Notice(kind="other_viewpoints", text=text), *list_repetition_notices(verdict.repeats)


def _describe_quality(choice: ScorerChoice | Absent) -> str:
    """Describe the measured quality of the chosen scorer."""
    if isinstance(choice, Absent):
        return ""
    figure, by_name = choice.held_out_accuracy, {item.name: item for item in choice.scorer_accuracies}
    quality = (
        f"The probabilities come from {choice.scorer}, chosen among {len(by_name)} scorers. On {choice.ideas:,} "
        f"held-out ideas ({choice.split}), scorers chosen in this way separate outcomes with an AUROC of "
        f"{figure.auroc:.2f} (95 % interval: {figure.low:.2f} to {figure.high:.2f}; 0.5 is chance)."
    )
    if not choice.baselines_not_beaten:
        return quality
    simple = " or ".join(f"{name} ({by_name[name].auroc:.2f})" for name in choice.baselines_not_beaten)
    return f"{quality} This is not shown to be better than {simple}."


def _is_beaten_by_length(choice: ScorerChoice | Absent) -> bool:
    return isinstance(choice, ScorerChoice) and any(
        item.name == LENGTH and item.auroc >= choice.held_out_accuracy.auroc for item in choice.scorer_accuracies
    )


_NO_LIMITS = Absent(reason="no similarity thresholds are known for this embedding model.")
_KINDS = {
    "same": "the graph already contains it with the same title or text; that record was left out",
    "copy": "{share:.0%} of its statements occur there nearly word for word",
    "recombination": "{share:.0%} of its statements occur nearly word for word in other ideas, most in this one",
    "paraphrase": "its statements say the same in other words",
}


def find_repeated_idea(
    idea: IdeaId, viewpoints: Sequence[Viewpoint], placed_idea: PlacedIdea, judge: GraphJudge
) -> RepeatedIdea | Absent | None:
    """Return the idea, among those known at the cutoff, that this idea repeats; None if there is none."""
    contents = judge.contents
    if placed_idea.same_ideas:
        same_idea = placed_idea.same_ideas[0]
        return RepeatedIdea(
            kind="same", idea=same_idea.id, title=same_idea.title, url=same_idea.url, share=1.0, pairs=()
        )
    limits = LIMITS_BY_EMBEDDER.get(contents.plan.embedder)
    if limits is None:
        return _NO_LIMITS
    owners = contents.arrays.idea_of
    nearby = [
        [
            NearbyViewpoint(contents.ideas[owners[row]].id, contents.viewpoints[row].text, cosine)
            for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
            if row >= 0
        ]
        for rows, cosines in zip(placed_idea.nearest.rows, placed_idea.nearest.cosines, strict=True)
    ]
    resemblance = find_resemblance_to_neighbours(idea, [viewpoint.text for viewpoint in viewpoints], nearby, limits)
    if resemblance is None:
        return None
    source = next(item for item in contents.ideas if item.id == resemblance.closest)
    pairs = (
        RepeatedViewpoint(text=pair.text, other_text=pair.other_text, similarity=round(pair.cosine, 4))
        for pair in resemblance.pairs
        if pair.other == resemblance.closest
    )
    return RepeatedIdea(
        kind=resemblance.kind,
        idea=source.id,
        title=source.title,
        url=source.url,
        share=round(resemblance.share, 4),
        pairs=tuple(pairs),
    )


def list_repetition_notices(repetition: RepeatedIdea | Absent | None) -> tuple[Notice, ...]:
    if not isinstance(repetition, RepeatedIdea):
        return ()
    reason = _KINDS[repetition.kind].format(share=repetition.share)
    text = (
        f"This idea repeats “{repetition.title}” ({repetition.idea}): {reason}. "
        "Compare them: a resemblance is not proof."
    )
    return (Notice(kind="repeated_idea", text=text),)
