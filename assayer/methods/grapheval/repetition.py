"""Detect repetition: whether an evaluated idea repeats an idea in the graph, based on the neighbours that also support
its verdict."""

from collections.abc import Sequence

from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.methods.grapheval.judge import GraphJudge, PlacedIdea
from assayer.methods.grapheval.plagiarism import LIMITS_BY_EMBEDDER, NearbyViewpoint, find_resemblance_to_neighbours
from assayer.models import Absent, IdeaId, Notice, RepeatedIdea, RepeatedViewpoint

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
