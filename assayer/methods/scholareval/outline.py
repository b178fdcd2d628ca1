"""The paragraphs of an idea under their headings, and what kind of paragraph each is."""

import re
from typing import Literal, NamedTuple

__all__ = ["Kind", "Paragraph", "paragraphs"]

Kind = Literal["problem", "method", "evaluation", "other"]

_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<hash>.+?)|\*\*(?P<bold>[^*]{3,100})\*\*:?|(?P<number>\d+(?:\.\d+)*[.)]?\s+[A-Z].{2,80}))\s*$"
)
_LEAD = re.compile(r"^\*\*(?P<lead>[^*]{3,100})\*\*:?\s*(?P<rest>\S.*)$", re.DOTALL)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "evaluation",
        re.compile(r"experiment|evaluat|validation|test|analys|metric|ablation|statistic|outcome", re.I),
    ),
    (
        "method",
        re.compile(r"method|approach|design|model|procedure|protocol|system|framework|algorithm|plan", re.I),
    ),
    (
        "problem",
        re.compile(r"problem|motivation|background|introduction|hypothes|question|aim|goal|gap", re.I),
    ),
)


class Paragraph(NamedTuple):
    heading: str
    kind: Kind
    """By the nearest heading that tells; sub-headings inherit."""
    text: str


def paragraphs(text: str) -> list[Paragraph]:
    """Paragraphs of running text; a heading applies until the next one."""
    found: list[Paragraph] = []
    heading = ""
    kind: Kind = "other"
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.strip().splitlines():
            match = _HEADING.match(line.strip())
            if match is None:
                lines.append(line.strip())
                continue
            _flush(found, heading, kind, lines)
            heading = (match["hash"] or match["bold"] or match["number"]).strip(" :*")
            kind = _kind_of(heading, kind if match["hash"] is None else "other")
        _flush(found, heading, kind, lines)
    return found


def _flush(found: list[Paragraph], heading: str, kind: Kind, lines: list[str]) -> None:
    text = " ".join(lines).strip()
    lines.clear()
    if not text:
        return
    match = _LEAD.match(text)
    if match:
        heading, text = match["lead"].strip(" :"), match["rest"]
    found.append(Paragraph(heading, _kind_of(heading, kind), text))


def _kind_of(heading: str, inherited: Kind) -> Kind:
    for kind, pattern in _KINDS:
        if pattern.search(heading):
            return kind
    return inherited
