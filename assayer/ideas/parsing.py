"""Turn text into an idea: sanitised, titled, and split at its own headings."""

import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from itertools import islice

from assayer.blinding.people_labels import is_people_label
from assayer.errors import InputError
from assayer.ideas.documents import build_reading_record, insert_notes
from assayer.ideas.front_matter import split_front_matter
from assayer.ideas.record_fields import asks_for_person, normalise_field_name
from assayer.ideas.record_vocabulary import PEOPLE
from assayer.ideas.titles import (
    MAX_TITLE_CHARS,
    find_announcing_sentence,
    find_labelled_title,
    find_opening_line,
    find_title_heading,
    is_generic_title,
    strip_kind,
)
from assayer.models import Document, Idea, IdeaId, Note, Section, TextFlag
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.link_targets import inline_links
from assayer.reference_lists.list_end import find_end_of_entries
from assayer.reference_lists.list_removal import SplitText, split_off_lists
from assayer.reference_lists.list_titles import list_title
from assayer.reference_lists.note_entries import (
    NoteEntry,
    extract_note_entries,
    number_notes,
    parse_note_entries,
    split_note,
)
from assayer.text.form_fields import merge_left_out, remove_form_fields
from assayer.text.headings import find_headings, split_at
from assayer.text.raised_text import rewrite_script_marks
from assayer.text.sanitise import sanitise
from assayer.text.scripts import count_unspaced_letters
from assayer.text.tex import looks_like_tex

MIN_WORDS = 20
MAX_CHARACTERS = 400_000
_MIN_TITLE_WORDS = 3
"""Minimum words of an opening line in a document with styles that is its title."""
UNTITLED = "Overview"
"""Name of a section without its own heading."""

_TOKEN = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\s぀-ヿ㐀-鿿가-힯]++")
"""Pattern for counting words; in scripts without spaces each character counts as a word."""
_LOOKED_AT = 1_000
"""Characters in which the letters of scripts without spaces are counted."""
_WORD_CHARACTER = re.compile(r"\w")
_EMPHASIS = re.compile(r"\*\*|__|`|^#+\s+|\[\^[\w-]+\]")

_NAMES_PEOPLE = re.compile(
    r"author|creator|byline|(?:^|[ _])by$|^names?$|applicant|investigator|\bpis?\b|contact|supervisor|advis[eo]r|"
    r"people|team|"
    r"committee|director|promotor|examiner|studentname|owner|assign(?:ee)?s?$|submitter|reviewer|proposer|mentor|researcher|personnel|"
    r"thanks|headers and footers",
    re.IGNORECASE,
)
"""Pattern for names of fields above the text that name people."""


def check_length(text: str, source: str) -> None:
    """Raise InputError if the text is too long for an idea."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"{source} has {len(text):,} characters; an idea can have at most {MAX_CHARACTERS:,}.",
            "Shorten it, or split it into one file per idea.",
        )


def _check(text: str, source: str) -> None:
    """Raise InputError unless the raw text can be an idea."""
    if not text.strip():
        raise InputError(f"{source} is empty.", "An idea needs a problem, a method and a way to test it, in words.")
    check_length(text, source)
    unreadable = sum(text.count(mark) for mark in ("\0", "\ufffd"))
    if "\0" in text or unreadable > 0.01 * len(text):
        raise InputError(
            f"{source} is not text: it contains NUL or undecodable characters.", "Check whether it is a binary file."
        )


def _check_word_count(text: str, source: str) -> None:
    """Raise InputError if too few words are left without front matter and reference lists."""
    found = (token for token in _TOKEN.finditer(text) if _WORD_CHARACTER.search(token[0]))
    words = sum(1 for _ in islice(found, MIN_WORDS))
    if words < MIN_WORDS:
        words = max(words, count_unspaced_letters(text[:_LOOKED_AT]) // 2)
    if words < MIN_WORDS:
        raise InputError(
            f"{source} has {words} word{'s' * (words != 1)}; that is too short to be judged as an idea.",
            f"Describe the problem, the method and the experiments in at least {MIN_WORDS} words; a page is better.",
        )


def _shorten_title(title: str) -> str:
    """Return the title on one line, at most MAX_TITLE_CHARS characters, cut between words."""
    line = " ".join(_EMPHASIS.sub("", title).split())
    if len(line) <= MAX_TITLE_CHARS:
        return line
    return line[: MAX_TITLE_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def idea_id(title: str, text: str) -> IdeaId:
    """Return the id of an idea. Texts with the same words have the same id, regardless of layout."""
    words = " ".join(f"{title} {text}".split())
    return IdeaId(hashlib.sha256(words.encode()).hexdigest()[:16])


def _title_and_sections(text: str) -> tuple[str, tuple[Section, ...]]:
    """Return the title, which may be empty, and at least one section."""
    headings = find_headings(text)
    start, title = 0, ""
    if titling := find_title_heading(text, headings):
        start, title = titling.end, strip_kind(titling.title)
    elif not headings or headings[0].start > 0:
        title = find_opening_line(text)
        start = len(title)
    if labelled := find_labelled_title(text):
        line = text.strip().partition("\n")[0]
        title, start = labelled, text.index(line) + len(line) if labelled in line else start
    within = [h._replace(start=h.start - start, end=h.end - start) for h in headings if h.start >= start]
    sections = split_at(text[start:], within, UNTITLED)
    return title, sections or (Section(title=UNTITLED, text=text),)


def _sanitise_and_strip(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """Return the sanitised text without surrounding white space, and its flags."""
    clean, flags = sanitise(text)
    shift = len(clean) - len(clean.lstrip())
    moved = (flag.model_copy(update={"offset": max(0, flag.offset - shift)}) for flag in flags)
    return clean.strip(), tuple(moved)


def parse_idea(
    text: str, source: str, title: str | None = None, cutoff: dt.date | None = None, known: Document | None = None
) -> Idea:
    """Create an idea from text or Markdown. Front matter and reference lists are not part of the judged text. `known`
    holds what a reader extracted from the document besides its text: notes, which are placed in the text, tables, and a
    list of what was left out.

    The title is the first available of: `title`, the front matter's title, the text's own title, its announcing
    sentence, its first sentence. Raises InputError if the text is empty, too short, too long or binary."""
    _check(text, source)
    if looks_like_tex(text):
        raise InputError(f"{source} is the source of a TeX document.", "Submit it as a .tex file.")
    front_matter, rest = split_front_matter(text)
    filled, form_fields = remove_form_fields(rest)
    clean, flags = _sanitise_and_strip(number_notes(inline_links(rewrite_script_marks(filled))))
    without_notes, noted = extract_note_entries(clean)
    split = split_off_lists(without_notes.text)
    _check_word_count(split.text, source)
    own, sections = _title_and_sections(split.text)
    named = title or next((field.value for field in front_matter if field.name == "title"), "")
    known = known or Document()
    above = (*known.front_matter, *front_matter)
    left_out = merge_left_out((*known.left_out, *form_fields))
    draft = known.model_copy(
        update={"title": named, "front_matter": above, "sections": sections, "notes": (), "left_out": left_out}
    )
    moved = tuple(
        flag.model_copy(update={"offset": split.convert_offset(without_notes.convert_offset(flag.offset))})
        for flag in flags
    )
    return _idea(draft, own, split.text, split.lists, moved, source, cutoff, noted)


def idea_of_document(document: Document, source: str, title: str | None = None, cutoff: dt.date | None = None) -> Idea:
    """Create an idea from a document as parsed by a reader. Raises the same errors as `parse_idea`."""
    sections, lists, text = list[Section](), list[str](), ""
    document, noted, flags = _extract_note_citations(document)
    left_out = list(document.left_out)
    _check("\n\n".join(f"{section.title}\n\n{section.text}" for section in document.sections), source)
    titled = any(list_title(section.title) == "certain" for section in document.sections)
    for section in insert_notes(document):
        filled, form_fields = remove_form_fields(section.text)
        left_out += form_fields
        (heading, heading_flags), (words, found) = _sanitise_and_strip(section.title), _sanitise_and_strip(filled)
        name = _shorten_title(heading)
        if section.title != UNTITLED and list_title(section.title) == "certain" and parse_references(words):
            end = find_end_of_entries(words)
            split = SplitText(words[end:].strip(), (words[:end].rstrip(),), ((0, end, 0),))
            name, heading_flags = UNTITLED, ()
        else:
            split = (
                SplitText(words) if document.references else _split_off_references(section.title, words, titled=titled)
            )
        lists += split.lists
        if split.lists and not split.text:
            continue
        head = "" if name == UNTITLED else f"## {name}\n\n"
        text += "\n\n" if text else ""
        start = len(text) + len("## ")
        flags += [flag.model_copy(update={"offset": start + min(flag.offset, len(name))}) for flag in heading_flags]
        text += head
        flags += [flag.model_copy(update={"offset": len(text) + split.convert_offset(flag.offset)}) for flag in found]
        text = f"{text}{split.text}".rstrip()
        if split.text:
            sections.append(Section(title=name, text=split.text))
    _check_word_count(text, source)
    labelled = find_labelled_title(text, named=bool(document.title) and not is_generic_title(document.title))
    draft = document.model_copy(
        update={
            "title": title or labelled or document.title,
            "sections": tuple(sections),
            "left_out": merge_left_out(left_out),
        }
    )
    opening = "" if text.startswith("## ") else find_opening_line(text)
    own = opening if len(opening.split()) >= _MIN_TITLE_WORDS else ""
    return _idea(draft, own, text, lists, tuple(flags), source, cutoff, noted)


def _extract_note_citations(document: Document) -> tuple[Document, list[NoteEntry], list[TextFlag]]:
    """Return the document with only the remarks of its notes, the citations in its notes, and the flags of notes that
    are citations."""
    remarks, entries, flags = list[Note](), list[NoteEntry](), list[TextFlag]()
    for note in document.notes:
        clean, note_flags = _sanitise_and_strip(note.text)
        remark, citations = split_note(clean)
        entries += parse_note_entries(note.mark, citations)
        flags += [flag.model_copy(update={"offset": 0}) for flag in note_flags] if citations else []
        if remark or not citations:
            remarks.append(note.model_copy(update={"text": remark}) if citations else note)
    return document.model_copy(update={"notes": tuple(remarks)}), entries, flags


def _split_off_references(title: str, words: str, *, titled: bool) -> SplitText:
    """Return a section's text and its reference lists. A title such as `Sources` marks a list if entries fill the
    section."""
    below = split_off_lists(f"## {title}\n\n{words}") if list_title(title) else SplitText(words)
    return SplitText("", below.lists) if below.lists and not below.text else split_off_lists(words, titled=titled)


def idea_of_sections(sections: Sequence[Section], source: str, title: str | None = None) -> Idea:
    """Create an idea from separate parts, such as fields of a record. Raises the same errors as `parse_idea`."""
    return idea_of_document(Document(sections=tuple(sections)), source, title)


def _idea(
    document: Document,
    own_title: str,
    text: str,
    lists: Sequence[str],
    flags: tuple[TextFlag, ...],
    source: str,
    cutoff: dt.date | None,
    noted: Sequence[NoteEntry],
) -> Idea:
    """Return the idea; `noted` are the citations in its notes."""
    named, title_flags = _sanitise_and_strip(document.title)
    name = (
        _shorten_title(named)
        or _shorten_title(own_title)
        or _shorten_title(find_announcing_sentence(document.sections))
    )
    references = document.references or tuple(work for listed in lists for work in parse_references(listed))
    is_numbered = any(work.number for work in references)
    references += tuple(
        entry.work.model_copy(update={"number": None}) if is_numbered else entry.work for entry in noted
    )
    lists = [*lists, *(f"[{entry.mark}] {entry.text}" for entry in noted)]
    return Idea(
        id=idea_id(name, text),
        title=name,
        text=text,
        sections=document.sections,
        source=source,
        cutoff=cutoff,
        flags=title_flags + flags,
        reference_list="\n\n".join(lists),
        references=references,
        references_reader=document.references_reader,
        people_fields=tuple(field.value for field in document.front_matter if _names_people(field.name)),
        reading=build_reading_record(document, name, text, len(references)),
    )


def _names_people(field: str) -> bool:
    """Return whether the name of a field above the text says that it holds names of people."""
    in_words = not PEOPLE.isdisjoint(re.split(r"[\W_]+", field))
    named = bool(_NAMES_PEOPLE.search(field)) or is_people_label(field)
    return named or in_words or asks_for_person(normalise_field_name(field))
