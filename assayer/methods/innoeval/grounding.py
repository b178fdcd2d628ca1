"""Which find speaks for or against which part of the idea, with the words that say so."""

from collections.abc import Sequence

from assayer.evidence import check_quote, plain
from assayer.flow import each
from assayer.methods.innoeval.dossier import Grounding, IdeaPart, Knowledge
from assayer.methods.innoeval.finds import batches, find_of
from assayer.methods.innoeval.options import Options
from assayer.methods.innoeval.queries import asked
from assayer.methods.innoeval.schemas import Find, GroundedPart, GroundingQuestion
from assayer.methods.innoeval.tasks import GROUNDING
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["ground"]


async def ground(
    llm: Llm, run: Run, options: Options, digest: str, parts: Sequence[IdeaPart], knowledge: Sequence[Knowledge]
) -> tuple[Grounding, ...]:
    """In the order of the parts, then of the knowledge. What a failed call would have said is counted as lost."""
    finds = [find_of(one.paper, one.kind, one.text, full_text=one.full_text) for one in knowledge]
    batched = batches(finds, options.grounded_per_call, options.grounded_chars)
    shown = asked(parts)
    names = {part.label: part.name for part in shown}

    async def one(batch: tuple[Find, ...]) -> list[Grounding]:
        answer = await ask(llm, GROUNDING, GroundingQuestion(digest=digest, parts=shown, evidence=batch), run)
        given = {find.label: find for find in batch}
        return [
            _grounding(names[grounded.part], grounded, given[find.label])
            for find in answer.finds
            for grounded in find.groundings
        ]

    outcomes = await each(batched, one)
    found = [
        grounding for some in run.keep(outcomes, "find to be grounded", [len(b) for b in batched]) for grounding in some
    ]
    place = {part.name: number for number, part in enumerate(parts)}
    distinct = {(one.part, one.paper_id): one for one in reversed(found)}
    run.journal.drop("grounding", "the find had spoken to this part already", len(found) - len(distinct))
    order = {one.paper.id: number for number, one in enumerate(knowledge)}
    return tuple(sorted(distinct.values(), key=lambda one: (place[one.part], order[one.paper_id])))


def _grounding(part: str, grounded: GroundedPart, find: Find) -> Grounding:
    return Grounding(
        part=part,
        paper_id=find.paper_id,
        stance=grounded.stance,
        analysis=plain(grounded.analysis),
        quote=check_quote(grounded.quote, find.shown),
    )
