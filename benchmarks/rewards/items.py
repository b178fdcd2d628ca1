"""Items to be judged: ideas and abstracts put together from parts, no two alike, as long as real ones."""

import random
from collections.abc import Sequence

from assayer_client import RewardItemBody

__all__ = ["drawn_items"]

_FIELDS = ("proteins", "sea ice", "power grids", "birdsong", "tax law", "soil microbes", "city traffic", "old scripts")
_MEANS = (
    "a graph network over neighbouring measurements",
    "a mixture of experts that is routed by season",
    "contrastive training on pairs of near misses",
    "a retrieval step before every prediction",
    "a verifier that rejects its own weakest answers",
    "distillation from a slow simulator",
    "a curriculum from short to long examples",
    "conformal intervals fitted to each region",
)
_ENDS = (
    "so that rare cases are learnt from fewer labels",
    "so that errors of the first stage do not reach the second",
    "because single models forget what they saw early",
    "where labels are late and noisy",
)
_CHECKS = (
    "An ablation removes each part in turn.",
    "The plan names in advance which result would speak against it.",
    "Three seeds and a held-out year decide.",
    "Where it abstains, a person is asked, and the answers are fed back.",
)


def drawn_items(count: int, repeats: float, seed: int = 7) -> Sequence[RewardItemBody]:
    """`repeats` is the share of items that repeat an earlier one word for word."""
    dice = random.Random(seed)
    items: list[RewardItemBody] = []
    while len(items) < count:
        if items and dice.random() < repeats:
            items.append(dice.choice(items))
            continue
        items.append(_item(dice, len(items)))
    return items


def _item(dice: random.Random, number: int) -> RewardItemBody:
    field, (mean, other), end = dice.choice(_FIELDS), dice.sample(_MEANS, 2), dice.choice(_ENDS)
    idea = (
        f"We propose to model {field} with {mean}, {end}. First we collect {number + 20} sites and describe "
        f"each by its ten nearest. Then {other} refines what the first stage predicts, and both are trained together. "
        f"{dice.choice(_CHECKS)}"
    )
    abstract = (
        f"Predicting {field} from sparse records is hard. This work introduces {dice.choice(_MEANS)} for the task, and "
        f"combines it with {dice.choice(_MEANS)}. On {number + 3} collections it lowers the error by a fifth. "
        f"{dice.choice(_CHECKS)}"
    )
    return RewardItemBody(question=f"How can {field} be predicted from few labels?", idea=idea, abstract=abstract)
