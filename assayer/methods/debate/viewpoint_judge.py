"""A judge without a language model. It measures how near the idea is to the reference's closest viewpoint, and how many
of the idea's words occur in the reference.

It is used only on request, never as a fallback for a debate. It does not understand sentences, so a negated method or a
list of the reference's own words looks like a match. Its accuracy, and the texts that deceive it, are described in
docs/evidence/rewards.md."""

import Stemmer

from assayer.methods.debate.guards import reward_without_judging
from assayer.methods.debate.options import ViewpointJudge
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer.ports import Embedder
from assayer.text.content_words import content_words
from assayer.text.sanitise import clean_text
from assayer_client.rewards import Reward

_MAX_VIEWPOINTS = 40


async def judge_by_viewpoints(item: RewardItem, embedder: Embedder, judge: ViewpointJudge) -> Reward:
    """Reward an idea with 1 if its nearness to the reference reaches the judge's threshold, else 0; the reward's
    `similarity` is the nearness. The value is Absent if the embedding model is not the one for which the threshold was
    fitted, because cosines differ between models."""
    reward = reward_without_judging(item, judge.name)
    if reward is not None:
        return reward
    if embedder.name != judge.fitted_for:
        reason = f"The threshold was fitted for {judge.fitted_for}, but the embedding model is {embedder.name}."
        return Reward(value=Absent(reason=reason), reason=reason, judge=judge.name)
    nearness = await measure_nearness(clean_text(item.idea), clean_text(item.abstract), embedder)
    meets = nearness >= judge.threshold
    reason = f"The idea's similarity to the reference is {nearness:.2f}; a match needs {judge.threshold:.2f}."
    return Reward(value=1 if meets else 0, reason=reason, judge=judge.name, similarity=round(nearness, 4))


async def measure_nearness(idea: str, abstract: str, embedder: Embedder) -> float:
    """Return how near an idea is to an abstract, 0 to 1: the mean of two similarities. The first is the highest cosine
    between a viewpoint in the abstract and the idea or one of its viewpoints. The second is the share of the idea's
    content words that occur in the abstract, ignoring word endings."""
    theirs = _split_viewpoints(abstract) or [abstract]
    idea_texts = [idea, *_split_viewpoints(idea)]
    vectors = await embedder.embed([*theirs, *idea_texts], "passage")
    highest = float((vectors[: len(theirs)] @ vectors[len(theirs) :].T).max())
    return (max(highest, 0.0) + _measure_shared_words(idea, abstract)) / 2


def _split_viewpoints(text: str) -> list[str]:
    return [split_viewpoint.text for split_viewpoint in split_viewpoints(text, _MAX_VIEWPOINTS)]


def _measure_shared_words(idea: str, abstract: str) -> float:
    stemmer = Stemmer.Stemmer("english")
    idea_words, abstract_words = (set(stemmer.stemWords(sorted(content_words(text)))) for text in (idea, abstract))
    return len(idea_words & abstract_words) / len(idea_words) if idea_words else 0.0
