"""Reject texts that are not an idea that can be judged, before any model is asked. The rules run in linear time.

Guards stop texts that have no content of their own, and texts written to influence the judge. They do not judge
quality: a short, plain or mistaken idea passes."""

from collections.abc import Callable
from typing import NamedTuple

from assayer.methods.debate.guard_phrases import addresses_judge, is_template
from assayer.methods.debate.guard_sentences import contains_instruction, score_sentence, split_sentences
from assayer.methods.debate.idea_shape import (
    find_own_words,
    is_method_list,
    is_monotonous,
    measure_shared_wording,
    split_words,
)
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer.text.sanitise import sanitise
from assayer_client.rewards import Reward

MAX_IDEA_CHARS = 40_000
"""Maximum number of characters in an idea, about 6,000 words: several times as long as the longest research plans."""
MAX_REFERENCE_CHARS = 20_000
"""Maximum number of characters in a question or an abstract."""
MIN_WORDS = 5
_MIN_OWN_WORDS = 3
"""Minimum number of content words that occur neither in the question nor in phrases that typically announce an idea."""
_COPIED_OF_SENTENCE = 0.6
"""Minimum share of a sentence's content words that occur in the question for the sentence to count as copied."""
_COPIED_OF_IDEA = 0.5
_COPIED_OF_ABSTRACT = 0.3


class GuardStop(NamedTuple):
    """Reason why an item gets no reward."""

    name: str
    """The guard's name, reported as the reward's `guard`. It is one of `empty`, `too_long`, `too_short`, `placeholder`,
    `copied_question`, `copied_abstract`, `method_list` and `orders`."""
    reason: str
    leakage: bool = False
    """Whether the idea repeats the abstract's own words. It then matches by definition, which says nothing about its
    author's ability."""


def _explain_unjudgeable(item: RewardItem) -> Absent | None:
    """Return why no idea can be judged with this question and abstract, or None if ideas can."""
    for name, text in (("research question", item.question), ("abstract", item.abstract)):
        if len(text) > MAX_REFERENCE_CHARS:
            return Absent(reason=f"The {name} has {len(text):,} characters; the limit is {MAX_REFERENCE_CHARS:,}.")
        if not split_words(text):
            return Absent(reason=f"The {name} is empty.")
    return None


def reward_without_judging(item: RewardItem, judge: str) -> Reward | None:
    """Return the reward for an item that a guard stops or that cannot be judged; None if the item needs to be
    judged."""
    stop = find_stop(item)
    if stop is not None:
        return Reward(value=0, reason=stop.reason, judge=judge, guard=stop.name, leakage=stop.leakage)
    no_judgement = _explain_unjudgeable(item)
    return None if no_judgement is None else Reward(value=no_judgement, reason=no_judgement.reason, judge=judge)


def find_stop(item: RewardItem) -> GuardStop | None:
    """Return the stop from the first guard that stops the item, or None if the item should be judged."""
    if len(item.idea) > MAX_IDEA_CHARS:
        return GuardStop("too_long", f"The idea has {len(item.idea):,} characters; the limit is {MAX_IDEA_CHARS:,}.")
    text, flags = sanitise(item.idea)
    shortened_item = item.model_copy(update={"idea": text, "question": item.question[:MAX_REFERENCE_CHARS]})
    if any(flag.kind in ("suspected_injection", "hidden_text") for flag in flags):
        return GuardStop("orders", "The idea contains hidden text or instructions to its judges.")
    return next((stop for guard in _GUARDS if (stop := guard(shortened_item)) is not None), None)


def _stop_copied_abstract(item: RewardItem) -> GuardStop | None:
    of_idea, of_abstract = measure_shared_wording(item.idea, item.abstract[:MAX_REFERENCE_CHARS])
    if of_idea < _COPIED_OF_IDEA and of_abstract < _COPIED_OF_ABSTRACT:
        return None
    return GuardStop(
        "copied_abstract",
        f"The idea repeats {of_abstract:.0%} of the abstract word for word. The match earns no reward, because the "
        "abstract leaked.",
        leakage=True,
    )


def _stop_copied_question(item: RewardItem) -> GuardStop | None:
    if len(find_own_words(item.idea, item.question)) >= _MIN_OWN_WORDS:
        return None
    if find_own_words(item.idea, "") & find_own_words(item.question, ""):
        return GuardStop("copied_question", "The idea repeats the question and adds nothing to it.")
    return GuardStop("placeholder", "The text announces an idea but does not describe one.")


def _stop_without_content(item: RewardItem) -> GuardStop | None:
    """Stop an idea that has too few words of its own. Sentences do not count if they are questions, repeat the research
    question or lack content."""
    is_copied, remaining_words = False, set[str]()
    for sentence in split_sentences(item.idea):
        words, own_words = find_own_words(sentence, ""), find_own_words(sentence, item.question)
        if (words and len(own_words) <= (1 - _COPIED_OF_SENTENCE) * len(words)) or sentence.endswith(("?", "？")):
            is_copied = True
        elif score_sentence(sentence).nothing <= 0:
            remaining_words |= own_words
        if len(remaining_words) >= _MIN_OWN_WORDS:
            return None
    if is_copied:
        return GuardStop("copied_question", "The idea repeats or rephrases the question and does not answer it.")
    return GuardStop("placeholder", "The text announces an idea but does not describe one.")


Guard = Callable[[RewardItem], GuardStop | None]


def _build_guard(name: str, reason: str, holds: Callable[[str], bool]) -> Guard:
    """Return a guard that stops ideas for which `holds` returns true."""
    return lambda item: GuardStop(name, reason) if holds(item.idea) else None


_GUARDS: tuple[Guard, ...] = (
    _build_guard("empty", "The idea is empty.", lambda idea: not split_words(idea)),
    _build_guard(
        "orders",
        "The idea tells its judges how to decide.",
        lambda idea: addresses_judge(idea) or contains_instruction(idea),
    ),
    _stop_copied_abstract,
    _build_guard(
        "placeholder",
        "The text is a placeholder or filler instead of an idea.",
        lambda idea: is_template(idea) or is_monotonous(idea),
    ),
    _build_guard(
        "too_short", f"The idea has fewer than {MIN_WORDS} words.", lambda idea: len(split_words(idea)) < MIN_WORDS
    ),
    _stop_copied_question,
    _stop_without_content,
    _build_guard("method_list", "The idea lists methods and commits to none.", is_method_list),
)
"""The guards in the order in which they run. Only the first stop is reported, so the most informative reasons come
first."""
