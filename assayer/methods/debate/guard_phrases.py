"""Patterns that detect unfilled templates and instructions to the judges. Each pattern is bounded, and runs once per
text."""

import re

from assayer.methods.debate.idea_shape import split_words

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
