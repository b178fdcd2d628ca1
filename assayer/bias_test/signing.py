"""Sign an idea as a particular person would submit it: with a byline under the title and a sentence at the end. Nothing
else changes."""

from collections.abc import Iterator, Sequence

from assayer.bias_test.authors import FictionalAuthor
from assayer.bias_test.poorer_english import PoorerText, rewrite_in_poorer_english
from assayer.ideas.parsing import UNTITLED, idea_id
from assayer.models import Idea, Section
from assayer.text.headings import Heading, find_headings

_MAX_PREFIX_CHARS = 40
"""Maximum number of characters before the title on its line, as in `Title:` or `Research proposal:`."""


def sign_idea(idea: Idea, author: FictionalAuthor) -> Idea:
    """Sign the idea, before its first section and at the end of its last."""
    byline = f"{author.name}\n{author.stage}, {author.affiliation}"
    closing_sentence = f"The project will be led by {author.name}, {author.role} at {author.institution}."
    headings = find_headings(idea.text)
    top = _find_title_end(idea, headings)
    head = idea.text[:top].rstrip() if top else f"# {idea.title}"
    body = idea.text[top:].strip()
    text = "\n\n".join(part for part in (head, byline, body, closing_sentence) if part)
    shift = text.index(body, len(head) + len(byline)) - idea.text.index(body, top)
    flags = (
        flag.model_copy(update={"offset": flag.offset + shift}) if flag.offset >= top else flag for flag in idea.flags
    )
    return _replace_text(idea, text, _sign_sections(idea.sections, byline, closing_sentence), flags=tuple(flags))


def write_poorer_text(idea: Idea) -> PoorerText:
    """Return the idea's text in poorer English; its title stays unchanged."""
    return rewrite_in_poorer_english(idea.text, _find_title_end(idea, find_headings(idea.text)))


def worsen_english(idea: Idea) -> Idea:
    poorer = write_poorer_text(idea)
    return _replace_text(idea, poorer.text, tuple(_edit_sections(idea, poorer)))


def _replace_text(idea: Idea, text: str, sections: Sequence[Section], **changed: object) -> Idea:
    update = {"id": idea_id(idea.title, text), "text": text, "sections": tuple(sections), **changed}
    return idea.model_copy(update=update)


def _find_title_end(idea: Idea, headings: Sequence[Heading]) -> int:
    """Return the offset at which the title line ends, or 0 if the text does not start with the idea's title."""
    title = _normalise_line(idea.title)
    if headings and not idea.text[: headings[0].start].strip() and _is_title(headings[0].title, title):
        return headings[0].end
    line = idea.text.split("\n", 1)[0]
    is_sentence = line.rstrip().endswith((".", ":", ";", ","))
    return 0 if is_sentence or not _is_title(line, title) else len(line)


def _is_title(line: str, title: str) -> bool:
    words = _normalise_line(line)
    return words.endswith(title) and len(words) <= len(title) + _MAX_PREFIX_CHARS


def _normalise_line(line: str) -> str:
    return " ".join(line.replace("*", "").replace("_", " ").replace("`", "").strip("# ").split()).casefold()


def _sign_sections(sections: Sequence[Section], byline: str, closing_sentence: str) -> Sequence[Section]:
    signed_sections = list(sections)
    if signed_sections and signed_sections[0].title == UNTITLED:
        signed_sections[0] = signed_sections[0].model_copy(update={"text": f"{byline}\n\n{signed_sections[0].text}"})
    else:
        signed_sections.insert(0, Section(title=UNTITLED, text=byline))
    signed_sections[-1] = signed_sections[-1].model_copy(
        update={"text": f"{signed_sections[-1].text}\n\n{closing_sentence}"}
    )
    return signed_sections


def _edit_sections(idea: Idea, poorer: PoorerText) -> Iterator[Section]:
    """Yield the sections with the full text's edits applied. A section that does not occur verbatim in the text is
    rewritten on its own."""
    place = 0
    for section in idea.sections:
        start = idea.text.find(section.text, place)
        if start >= 0:
            place = start + len(section.text)
            yield section.model_copy(update={"text": poorer.slice_edited(start, place)})
        else:
            yield section.model_copy(update={"text": rewrite_in_poorer_english(section.text).text})
