"""Turns text into an idea: sanitised, titled, split at its own headings."""

import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from itertools import islice

from assayer.errors import InputError
from assayer.models import Idea, IdeaId, Section, TextFlag
from assayer.text.headings import Heading, find_headings, split_at
from assayer.text.sanitise import sanitise
from assayer.text.section_titles import is_known_title
from assayer.text.sentences import sentences

__all__ = ["FEWEST_WORDS", "MOST_CHARACTERS", "UNTITLED", "idea_id", "idea_of_sections", "parse_idea"]

FEWEST_WORDS = 20
MOST_CHARACTERS = 400_000
LONGEST_TITLE = 200
UNTITLED = "Overview"
"""Names a section that has no heading of its own."""

_TOKEN = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\s぀-ヿ㐀-鿿가-힯]++")
"""Scripts without spaces count a word a character."""
_WORD_CHARACTER = re.compile(r"\w")
_KIND = re.compile(r"^(?:research\s+)?(?:plan|proposal|idea|project(?:\s+proposal)?|title)\b\s*[:–—-]?\s*", re.I)
_TITLE_LINE = re.compile(r"\A\s*(?:\*\*|__)?title(?:\*\*|__)?:(?:\*\*|__)?\s*(?P<title>\S.*)$", re.I | re.M)
_ANNOUNCES = re.compile(
    r"\b(?:we|this (?:study|project|proposal|research|work|plan)|our (?:aim|goal|hypothesis|idea))\b[^.]{0,40}"
    r"\b(?:aims?|hypothesi[sz]es?|propos\w+|investigat\w+|develop\w*|introduc\w+|examin\w+|test\w*|is|will)\b",
    re.I,
)
_EMPHASIS = re.compile(r"\*\*|__|`|^#+\s+")


def _check(text: str, source: str) -> None:
    """Raises InputError unless the raw text can be an idea."""
    if not text.strip():
        raise InputError(f"{source} is empty.", "An idea needs a problem, a method and a way to test it, in words.")
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"{source} has {len(text):,} characters; an idea may have {MOST_CHARACTERS:,}.",
            "Shorten it, or split it into one file per idea.",
        )
    unreadable = sum(text.count(mark) for mark in ("\0", "\ufffd"))
    if "\0" in text or unreadable > 0.01 * len(text):
        raise InputError(f"{source} is not text: it holds characters that no text has.", "Is it a binary file?")


def _check_length(text: str, source: str) -> None:
    found = (token for token in _TOKEN.finditer(text) if _WORD_CHARACTER.search(token[0]))
    words = sum(1 for _ in islice(found, FEWEST_WORDS))
    if words < FEWEST_WORDS:
        raise InputError(
            f"{source} has {words} word{'s' * (words != 1)}; that is too short to be judged as an idea.",
            f"Describe problem, method and experiments in at least {FEWEST_WORDS} words; a page is better.",
        )


def _short(title: str) -> str:
    """On one line, at most LONGEST_TITLE characters, cut between words."""
    line = " ".join(_EMPHASIS.sub("", title).split())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def idea_id(title: str, text: str) -> IdeaId:
    """The same words have the same id, however they are laid out."""
    words = " ".join(f"{title} {text}".split())
    return IdeaId(hashlib.sha256(words.encode()).hexdigest()[:16])


def _titling(text: str, headings: Sequence[Heading]) -> Heading | None:
    """The heading that names the whole text, not a section of it."""
    if not headings or is_known_title(_KIND.sub("", headings[0].title) or "-"):
        return None
    first, rest = headings[0], headings[1:]
    outermost = all(first.level < heading.level for heading in rest)
    heads_nothing = bool(rest) and not text[first.end : rest[0].start].strip()
    opens = not text[: first.start].strip()
    return first if opens and (outermost or heads_nothing) else None


def _opening_line(text: str) -> str:
    """A first line that stands alone and is no sentence."""
    line, _, rest = text.strip().partition("\n")
    alone = rest.startswith("\n") and len(line) <= LONGEST_TITLE and not line.rstrip().endswith((".", ":", ";", ","))
    return line if alone else ""


def _telling_sentence(sections: Sequence[Section]) -> str:
    """The sentence that announces the work, else the first."""
    opening = [one for section in sections[:2] for one in sentences(section.text[:5_000], min_words=4)]
    announcing = (one for one in opening if _ANNOUNCES.search(one))
    return next(announcing, next(iter(opening), sections[0].text))


def _within(headings: Sequence[Heading], start: int) -> list[Heading]:
    """Headings from an offset on, counted from there."""
    return [h._replace(start=h.start - start, end=h.end - start) for h in headings if h.start >= start]


def _title_and_sections(text: str) -> tuple[str, tuple[Section, ...]]:
    """The title may be empty; there is at least one section."""
    headings = find_headings(text)
    start, title = 0, ""
    if titling := _titling(text, headings):
        start, title = titling.end, _KIND.sub("", titling.title)
    elif match := _TITLE_LINE.match(text):
        start, title = match.end(), match["title"]
    elif not headings or headings[0].start > 0:
        title = _opening_line(text)
        start = len(title)
    sections = split_at(text[start:], _within(headings, start), UNTITLED)
    return title, sections or (Section(title=UNTITLED, text=text),)


def _stripped(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """Sanitised, without white space around it."""
    clean, flags = sanitise(text)
    shift = len(clean) - len(clean.lstrip())
    moved = (flag.model_copy(update={"offset": max(0, flag.offset - shift)}) for flag in flags)
    return clean.strip(), tuple(moved)


def parse_idea(text: str, source: str, title: str | None = None, cutoff: dt.date | None = None) -> Idea:
    """Raises InputError when the text is empty, too short, too long or no text.

    A given title wins over the text's own, and that over its announcing or first sentence.
    """
    _check(text, source)
    clean, flags = _stripped(text)
    _check_length(clean, source)
    own, sections = _title_and_sections(clean)
    given, title_flags = _stripped(title or "")
    name = _short(given) or _short(own) or _short(_telling_sentence(sections))
    return Idea(
        id=idea_id(name, clean),
        title=name,
        text=clean,
        sections=sections,
        source=source,
        cutoff=cutoff,
        flags=title_flags + flags,
    )


def idea_of_sections(
    sections: Sequence[Section], source: str, title: str | None = None, cutoff: dt.date | None = None
) -> Idea:
    """An idea from parts that are already apart: fields of a record, sections of a PDF. Raises as `parse_idea`."""
    text = "\n\n".join(
        section.text.strip() if section.title == UNTITLED else f"## {section.title}\n\n{section.text.strip()}"
        for section in sections
    )
    whole = parse_idea(text, source, title, cutoff)
    clean = [Section(title=_short(sanitise(s.title)[0]), text=_stripped(s.text)[0]) for s in sections]
    return whole.model_copy(update={"sections": tuple(section for section in clean if section.text)})
