"""Grounding: which source supports or contradicts which part of the idea, with the words that show it; and the
background part of the report.
"""

from collections.abc import Sequence

from assayer.citing.evidence import check_quote, citation_of, evidence_batches
from assayer.citing.labels import marker, plain
from assayer.llm import Llm, ask
from assayer.methods.innoeval.evidence_pack import EvidencePack, Grounding, ReadSource
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import labelled_parts, source_item
from assayer.methods.innoeval.schemas import EvidenceItem, GroundedPart, GroundingQuestion
from assayer.methods.innoeval.tasks import GROUNDING
from assayer.models import Absent, Assessment, Part, Reading
from assayer.run.run import Run
from assayer.run.structured_concurrency import each

__all__ = ["BACKGROUND", "background_part", "ground"]


async def ground(
    llm: Llm,
    run: Run,
    options: InnoEvalOptions,
    digest: str,
    parts: Sequence[IdeaPart],
    sources: Sequence[ReadSource],
) -> tuple[Grounding, ...]:
    """In the order of the parts, then of the sources. What a failed call would have grounded is counted as lost."""
    items = [source_item(one) for one in sources]
    batched = evidence_batches(items, options.grounded_per_call, options.grounded_chars)
    shown = labelled_parts(parts)
    names = {part.label: part.name for part in shown}

    async def one(batch: tuple[EvidenceItem, ...]) -> list[Grounding]:
        answer = await ask(llm, GROUNDING, GroundingQuestion(digest=digest, parts=shown, evidence=batch), run)
        given = {item.label: item for item in batch}
        return [
            _grounding(names[grounded.part], grounded, given[item.label])
            for item in answer.finds
            for grounded in item.groundings
        ]

    outcomes = await each(batched, one)
    found = [
        grounding
        for some in run.keep_successes(outcomes, "found source to be matched to the idea", [len(b) for b in batched])
        for grounding in some
    ]
    place = {part.name: number for number, part in enumerate(parts)}
    distinct = {(one.part, one.paper_id, one.stance): one for one in reversed(found)}
    run.journal.record_dropped("grounding", "the source was already matched to this part", len(found) - len(distinct))
    order = {one.paper.id: number for number, one in enumerate(sources)}
    return tuple(sorted(distinct.values(), key=lambda one: (place[one.part], order[one.paper_id])))


def _grounding(part: str, grounded: GroundedPart, item: EvidenceItem) -> Grounding:
    return Grounding(
        part=part,
        paper_id=item.paper_id,
        stance=grounded.stance,
        analysis=plain(grounded.analysis),
        quote=check_quote(grounded.quote, item),
    )


BACKGROUND = "background"


def background_part(pack: EvidencePack, search: str) -> Part:
    """Papers stand in it as markers; `search` says how they were found."""
    unscored = Absent(
        reason=f"The background is the evidence that the board judges by; it has no score of its own. {search}"
    )
    return Part(
        name=BACKGROUND,
        title="Background knowledge",
        score=unscored,
        summary=unscored,
        assessments=tuple(_part_assessment(pack, part) for part in pack.six_tuple.parts),
    )


def _part_assessment(pack: EvidencePack, part: IdeaPart) -> Assessment:
    found = [one for one in pack.groundings if one.part == part.name]
    sides = [sum(one.stance == stance for one in found) for stance in ("supports", "contradicts")]
    return Assessment(
        name=part.name.capitalize(),
        statement=part.text,
        score=Absent(reason=f"Not scored separately: {sides[0]} source(s) support it, {sides[1]} contradict it."),
        points=(),
        readings=tuple(map(_reading, found)),
    )


def _reading(grounding: Grounding) -> Reading:
    return Reading(
        label=marker(grounding.paper_id),
        stance=1 if grounding.stance == "supports" else -1,
        text=grounding.analysis,
        quote=citation_of(grounding.paper_id, grounding.quote) if grounding.quote else None,
    )
