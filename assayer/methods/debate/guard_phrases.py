"""Phrases that stand where an idea should be, and orders to those who judge it: bounded patterns, tried once a text."""

import re

from assayer.methods.debate.idea_shape import words_in

__all__ = ["addresses_judge", "is_placeholder"]

_SLOT_WORDS = (
    r"(?:insert|fill in|your|specify|describe|enter|write|add|name|methods?|technique|approach|model|dataset|task"
    r"|metric|baseline|idea|research|problem|domain|field|topic|algorithm|solution|component|module|todo|tbd|placeholder"
    r"|text|title|content|abstract)"
)
_SLOT = re.compile(
    rf"(?:\[|<|\{{\{{)\s?{_SLOT_WORDS}\b[^\[\]<>{{}}\n]{{0,80}}(?:\]|>|\}}\}})|(?<![\w\\}}])\{{{_SLOT_WORDS}\}}|_{{4,200}}",
    re.IGNORECASE,
)
"""A gap of a template: `[METHOD]`, `<insert idea>`, `{{idea}}`, `______`."""
_COMMANDING_SLOT = re.compile(
    r"[\[<{(]\s?(?:insert|fill in|specify|describe|your|todo|tbd|placeholder)\b[^\[\]<>{}()\n]{0,80}[\]>})]",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\blorem ipsum\b|\bdolor sit amet\b|\bconsectetur adipiscing\b|\bsed do eiusmod\b"
    r"|\b(?:insert |put |write |enter )?your (?:research )?(?:idea|answer|text|proposal|method) (?:goes )?here\b"
    r"|\b(?:idea|text|content|answer) goes here\b"
    r"|\bplaceholder (?:text|idea|answer)\b|\bthis is (?:a|just a) (?:placeholder|test|sample|dummy)\b"
    r"|\b(?:dummy|sample|filler) text\b|\bto be (?:written|filled in|completed|determined|added|announced) later\b"
    r"|\bas an ai (?:language )?model\b|\basdf(?:gh)?\w{0,10}\b|\bqwerty\w{0,10}\b|\bblah blah\b",
    re.IGNORECASE,
)
_STANDS_FOR_NOTHING = re.compile(
    r"\b(?:todo|tbd|tba|tbc|fixme|xxx|n\s?/\s?a|n\.a\.|none|null|nil|nan|undefined|unknown|nothing|empty|untitled|test"
    r"|testing|foo|bar|baz|placeholder|pending|coming soon|work in progress|wip|to be (?:determined|done|decided|added"
    r"|announced|completed|written|filled in)|not (?:applicable|available|yet available|provided|specified|sure)"
    r"|no (?:idea|answer|response|output|content|text|proposal)|i (?:do not|don['’]t) (?:know|have an? idea)"
    r"|i (?:can\s?not|can['’]t|am unable to|am sorry)|sorry|idea|answer|abstract|title|method|research|insert|here"
    r"|later|see above|same as above|see below)\b",
    re.IGNORECASE,
)
_FEWEST_LEFT = 8
"""Words beside what stands for nothing; with fewer, nothing was said."""
_FEWEST_GAPS = 2
_WORDS_BETWEEN = 30
"""A template has a gap at least once in so many words; a plan that shows a prompt of its own does not."""


def is_placeholder(text: str) -> bool:
    size = len(words_in(text))
    gaps = len(_SLOT.findall(text))
    told = len(_FILLER.findall(text)) + len(_COMMANDING_SLOT.findall(text))
    if (told and told * _WORDS_BETWEEN >= size) or (gaps >= _FEWEST_GAPS and gaps * _WORDS_BETWEEN >= size):
        return True
    bare, blanks = _STANDS_FOR_NOTHING.subn(" ", _SLOT.sub(" ", text))
    return bool(gaps or blanks) and len(words_in(bare)) < _FEWEST_LEFT


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
    """Whether the text tells the seats of a debate how to vote, or claims the verdict for itself."""
    return _ORDER.search(text) is not None
