"""Reject texts that are not an idea to judge, before any model is asked, by rules that run in linear time.

A guard stops texts without content of their own and texts written to influence the judge. It does not judge quality: a
short, plain or mistaken idea passes."""

from collections.abc import Callable
from typing import NamedTuple

from assayer.methods.debate.guard_phrases import addresses_judge, is_template
from assayer.methods.debate.guard_sentences import orders_in, scores_of, sentences_of
from assayer.methods.debate.idea_shape import is_method_list, is_monotonous, own_words, shared_wording, words_in
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer.text.sanitise import sanitise
from assayer_client.rewards import Reward

LONGEST_IDEA = 40_000
"""Maximum characters of an idea, about 6,000 words: several times the length of the longest research plans."""
LONGEST_REFERENCE = 20_000
"""Maximum characters of a question or an abstract."""
FEWEST_WORDS = 5
_FEWEST_OWN_WORDS = 3
"""Minimum number of content words that occur neither in the question nor in typical announcements of an idea."""
_COPIED_OF_SENTENCE = 0.6
"""Minimum share of a sentence's content words that occur in the question for the sentence to count as copied."""
_COPIED_OF_IDEA = 0.5
_COPIED_OF_ABSTRACT = 0.3


class GuardStop(NamedTuple):
    """Reason why an item receives no reward."""

    name: str
    """Name of the guard, reported as the reward's `guard`. It is `empty`, `too_long`, `too_short`, `placeholder`,
    `copied_question`, `copied_abstract`, `method_list` or `orders`."""
    reason: str
    leakage: bool = False
    """True if the idea repeats the abstract's own words. It then matches by definition, and shows nothing about its
    author's ability."""


def _unjudgeable(item: RewardItem) -> Absent | None:
    """Return why this question and abstract cannot be used to judge any idea, or None."""
    for name, text in (("research question", item.question), ("abstract", item.abstract)):
        if len(text) > LONGEST_REFERENCE:
            return Absent(reason=f"The {name} has {len(text):,} characters; the limit is {LONGEST_REFERENCE:,}.")
        if not words_in(text):
            return Absent(reason=f"The {name} is empty.")
    return None


def reward_without_judging(item: RewardItem, judge: str) -> Reward | None:
    """Return the reward of an item that is stopped by a guard or cannot be judged; None if the item must be judged."""
    stop = stopped_by(item)
    if stop is not None:
        return Reward(value=0, reason=stop.reason, judge=judge, guard=stop.name, leakage=stop.leakage)
    unable = _unjudgeable(item)
    return None if unable is None else Reward(value=unable, reason=unable.reason, judge=judge)


def stopped_by(item: RewardItem) -> GuardStop | None:
    """Return the reason of the first guard that stops the item, or None if the item should be judged."""
    if len(item.idea) > LONGEST_IDEA:
        return GuardStop("too_long", f"The idea has {len(item.idea):,} characters; the limit is {LONGEST_IDEA:,}.")
    text, flags = sanitise(item.idea)
    checked = item.model_copy(update={"idea": text, "question": item.question[:LONGEST_REFERENCE]})
    if any(flag.kind in ("suspected_injection", "hidden_text") for flag in flags):
        return GuardStop("orders", "The idea contains hidden text or instructions to its judges.")
    return next((stop for guard in _GUARDS if (stop := guard(checked)) is not None), None)


def _copied_abstract(item: RewardItem) -> GuardStop | None:
    of_idea, of_abstract = shared_wording(item.idea, item.abstract[:LONGEST_REFERENCE])
    if of_idea < _COPIED_OF_IDEA and of_abstract < _COPIED_OF_ABSTRACT:
        return None
    return GuardStop(
        "copied_abstract",
        f"The idea repeats {of_abstract:.0%} of the abstract word for word. The match earns no reward, because the "
        "abstract leaked.",
        leakage=True,
    )


def _copied_question(item: RewardItem) -> GuardStop | None:
    if len(own_words(item.idea, item.question)) >= _FEWEST_OWN_WORDS:
        return None
    if own_words(item.idea, "") & own_words(item.question, ""):
        return GuardStop("copied_question", "The idea repeats the question and adds nothing to it.")
    return GuardStop("placeholder", "The idea announces an idea but does not describe it.")


def _without_content(item: RewardItem) -> GuardStop | None:
    """Stop an idea that has too few words of its own. Sentences that are questions, repeat the research question or
    lack content do not count."""
    copied, left = False, set[str]()
    for sentence in sentences_of(item.idea):
        words, own = own_words(sentence, ""), own_words(sentence, item.question)
        if (words and len(own) <= (1 - _COPIED_OF_SENTENCE) * len(words)) or sentence.endswith(("?", "？")):
            copied = True
        elif scores_of(sentence).nothing <= 0:
            left |= own
        if len(left) >= _FEWEST_OWN_WORDS:
            return None
    if copied:
        return GuardStop("copied_question", "The idea repeats or rephrases the question and does not answer it.")
    return GuardStop("placeholder", "The idea announces an idea but does not describe it.")


Guard = Callable[[RewardItem], GuardStop | None]


def _rule(name: str, reason: str, holds: Callable[[str], bool]) -> Guard:
    """Return a guard that stops ideas for which `holds` is true."""
    return lambda item: GuardStop(name, reason) if holds(item.idea) else None


_GUARDS: tuple[Guard, ...] = (
    _rule("empty", "The idea is empty.", lambda idea: not words_in(idea)),
    _rule("orders", "The idea tells its judges how to decide.", lambda idea: addresses_judge(idea) or orders_in(idea)),
    _copied_abstract,
    _rule(
        "placeholder",
        "The text is a placeholder or filler instead of an idea.",
        lambda idea: is_template(idea) or is_monotonous(idea),
    ),
    _rule(
        "too_short", f"The idea has fewer than {FEWEST_WORDS} words.", lambda idea: len(words_in(idea)) < FEWEST_WORDS
    ),
    _copied_question,
    _without_content,
    _rule("method_list", "The idea lists methods and commits to none.", is_method_list),
)
"""Guards in the order in which they run: the most informative reason comes first, since only the first stop is
reported."""
