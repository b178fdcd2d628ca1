"""Background of the report: what was found for and against each part of the idea."""

from assayer.evidence import Quoted, marker
from assayer.methods.innoeval.dossier import Dossier, Grounding, IdeaPart
from assayer.models import Absent, Assessment, Citation, Part, Reading

__all__ = ["NAME", "background"]

NAME = "background"


def background(dossier: Dossier, search: str) -> Part:
    """Papers stand in it as markers; `search` says how they were found."""
    unscored = Absent(reason=f"The background is what the board judges by; it carries no score of its own. {search}")
    return Part(
        name=NAME,
        title="Background knowledge",
        score=unscored,
        summary=unscored,
        assessments=tuple(_assessment(dossier, part) for part in dossier.six.parts),
    )


def _assessment(dossier: Dossier, part: IdeaPart) -> Assessment:
    found = [one for one in dossier.groundings if one.part == part.name]
    sides = [sum(one.stance == stance for one in found) for stance in ("supports", "contradicts")]
    return Assessment(
        name=part.name.capitalize(),
        statement=part.text,
        score=Absent(reason=f"Not scored by itself: {sides[0]} find(s) speak for it, {sides[1]} against."),
        points=(),
        readings=tuple(map(_reading, found)),
    )


def _reading(grounding: Grounding) -> Reading:
    return Reading(
        label=marker(grounding.paper_id),
        stance=1 if grounding.stance == "supports" else -1,
        text=grounding.analysis,
        quote=_citation(grounding, grounding.quote),
    )


def _citation(grounding: Grounding, quoted: Quoted | None) -> Citation | None:
    if quoted is None:
        return None
    return Citation(label=marker(grounding.paper_id), quote=quoted.words, quote_state=quoted.state)
