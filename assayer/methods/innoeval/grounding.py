"""Grounding: find out which sources support or contradict which parts of the idea, with quotes as evidence. Also build
the report's background part."""

from collections.abc import Sequence

from assayer.citing.evidence import batch_evidence, build_citation, check_quote
from assayer.citing.labels import build_marker, strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.evidence_pack import EvidencePack, Grounding, ReadSource
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import build_source_item, label_parts
from assayer.methods.innoeval.schemas import EvidenceItem, GroundedPart, GroundingQuestion
from assayer.methods.innoeval.tasks import GROUNDING
from assayer.models import Absent, Assessment, Part, Reading
from assayer.run.concurrency import gather_settled


async def ground_parts(
    context: EvaluationContext[InnoEvalOptions], digest: str, parts: Sequence[IdeaPart], sources: Sequence[ReadSource]
) -> tuple[Grounding, ...]:
    """Ground the idea's parts in the sources. Returns the groundings ordered by part, then by source. If the request
    for a source fails, the source has no groundings, and the journal records the failure."""
    run, options = context.run, context.options
    items = [build_source_item(source) for source in sources]
    batches = batch_evidence(items, options.grounded_per_call, options.grounded_chars)
    labelled_parts = label_parts(parts)
    names = {part.label: part.name for part in labelled_parts}

    async def ground_batch(batch: tuple[EvidenceItem, ...]) -> list[Grounding]:
        answer = await context.ask(GROUNDING, GroundingQuestion(digest=digest, parts=labelled_parts, evidence=batch))
        by_label = {item.label: item for item in batch}
        return [
            _convert_grounding(names[grounded_part.part], grounded_part, by_label[item.label])
            for item in answer.finds
            for grounded_part in item.groundings
        ]

    outcomes = await gather_settled(batches, ground_batch)
    kept_groundings = [
        grounding
        for groundings in run.keep_successes(outcomes, "source to match to the idea", [len(b) for b in batches])
        for grounding in groundings
    ]
    part_order = {part.name: number for number, part in enumerate(parts)}
    distinct = {(entry.part, entry.paper_id, entry.stance): entry for entry in reversed(kept_groundings)}
    run.journal.record_dropped(
        "grounding", "the source was already matched to this part", len(kept_groundings) - len(distinct)
    )
    source_order = {source.paper.id: number for number, source in enumerate(sources)}
    return tuple(sorted(distinct.values(), key=lambda entry: (part_order[entry.part], source_order[entry.paper_id])))


def _convert_grounding(part: str, grounded_part: GroundedPart, item: EvidenceItem) -> Grounding:
    return Grounding(
        part=part,
        paper_id=item.paper_id,
        stance=grounded_part.stance,
        analysis=strip_citations(grounded_part.analysis),
        quote=check_quote(grounded_part.quote, item),
    )


BACKGROUND = "background"


def build_background_part(pack: EvidencePack, search: str) -> Part:
    """Build the background part, with papers as markers. `search` describes how they were found."""
    no_score = Absent(
        reason=f"The background is the evidence on which the board bases its scores; it is not scored itself. {search}"
    )
    return Part(
        name=BACKGROUND,
        title="Background knowledge",
        score=no_score,
        summary=no_score,
        assessments=tuple(_build_part_assessment(pack, part) for part in pack.six_tuple.parts),
    )


def _build_part_assessment(pack: EvidencePack, part: IdeaPart) -> Assessment:
    groundings = [grounding for grounding in pack.groundings if grounding.part == part.name]
    sides = [sum(item.stance == stance for item in groundings) for stance in ("supports", "contradicts")]
    return Assessment(
        name=part.name.capitalize(),
        statement=part.text,
        score=Absent(
            reason=f"Not scored separately. Supporting sources: {sides[0]}; contradicting sources: {sides[1]}."
        ),
        points=(),
        readings=tuple(map(_build_reading, groundings)),
    )


def _build_reading(grounding: Grounding) -> Reading:
    return Reading(
        label=build_marker(grounding.paper_id),
        stance=1 if grounding.stance == "supports" else -1,
        text=grounding.analysis,
        quote=build_citation(grounding.paper_id, grounding.quote) if grounding.quote else None,
    )
