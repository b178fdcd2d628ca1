"""Reject texts that are not an idea that can be judged, before any model is asked. The rules run in linear time.

Guards stop texts that have no content of their own, and texts written to influence the judge. They do not judge
quality: a short, plain or mistaken idea passes."""

import re
from collections.abc import Callable
from typing import NamedTuple

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


_SLOT_WORDS = (
    r"(?:insert|fill in|your|specify|describe|enter|write|add|name|methods?|technique|approach|model|dataset|task"
    r"|metric|baseline|idea|research|problem|domain|field|topic|algorithm|solution|component|module|todo|tbd|placeholder"
    r"|text|title|content|abstract)"
)
_SLOT = re.compile(
    rf"(?:\[|<|\{{\{{)\s?{_SLOT_WORDS}\b[^\[\]<>{{}}\n]{{0,80}}(?:\]|>|\}}\}})|(?<![\w\\}}])\{{{_SLOT_WORDS}\}}|_{{4,200}}",
    re.IGNORECASE,
)
"""Matches a placeholder in a template: `[METHOD]`, `<insert idea>`, `{{idea}}`, `______`."""
_MIN_GAPS = 2
_MAX_WORDS_PER_GAP = 30
"""Maximum number of words per placeholder in a template. A plan that merely quotes its own prompt has more."""


def is_template(text: str) -> bool:
    gaps = len(_SLOT.findall(text))
    return gaps >= _MIN_GAPS and gaps * _MAX_WORDS_PER_GAP >= len(split_words(text))


_JUDGE = r"(?:analysts?|critics?|evaluators?|moderators?|judges?|graders?|referees?|reviewers?)"
_ORDER = re.compile(
    r"[\"'`]?\b(?:vote|verdict|reward|is_match|match)[\"'`]?\s{0,3}(?:(?:is|to)?\s?[:=]|is|to)\s{0,3}[\"'`]?"
    r"(?:match\b|1(?:\.0)?\b(?!\s?[-/%])|true\b|positive\b)"
    rf"|\b{_JUDGE}(?:,|:|\s(?:must|should|shall|please|are (?:asked|told|instructed) to))\s{{0,3}}(?:\w+\s){{0,2}}"
    r"(?:vote|mark|rule|decide|return|output|answer|accept|agree|conclude)\b"
    r"|\b(?:vote|answer|output|return|reply|respond|conclude|decide)\s(?:with\s|for\s|that\s)?"
    r"(?:[\"'`]match[\"'`]|match\b|a match\b|it matches\b|it is a match\b)"
    r"|\byou (?:must|should|shall|have to|need to|are to) (?:return|output|answer|reply|say|give|vote|choose)\s"
    r"(?:\w+\s){0,2}[\"'`]?(?:match|1|yes)\b"
    r"|\b(?:this|the|my|our)\s(?:\w+\s){0,2}(?:idea|proposal|answer|method|approach|submission)\s(?:\w+\s){0,2}"
    r"(?:match(?:es)?|aligns? with|is (?:the same as|identical to|equivalent to)|agrees with|corresponds to)\s"
    r"(?:\w+\s){0,4}(?:abstract|reference|ground truth|published work)\b",
    re.IGNORECASE,
)


def addresses_judge(text: str) -> bool:
    """Return whether the text tells the judges how to vote, or declares that the idea matches."""
    return _ORDER.search(text) is not None
