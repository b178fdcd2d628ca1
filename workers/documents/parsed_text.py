"""Output of the processes that parse documents, and its conversion to a document or an idea."""

from collections.abc import Sequence
from typing import Literal

from assayer.errors import InputError
from assayer.ideas.parsing import UNTITLED, idea_of_document, parse_idea
from assayer.ideas.tables import IdeaTable
from assayer.ideas.titles import find_opening_line, is_file_name, is_generic_title
from assayer.models import CitedWork, Document, FrontMatterField, Frozen, Idea, Note, Section, UnreadPart
from assayer.reference_lists.entry_shape import reads_like_entry
from assayer.text.sanitise import build_hidden_flags
from assayer.text.section_titles import is_known_title, strip_number

_MIN_MAIN_HEADINGS = 2
_MIN_TITLE_WORDS, _OPENING_PARAGRAPHS = 3, 10
"""Minimum words of a title in a file's properties, and number of paragraphs that may print it."""


def _has_leading_title(paragraphs: Sequence[tuple[int, str]]) -> bool:
    """Return whether the first paragraph is a heading of a higher level than all others, or one without text of its
    own, and does not name a standard section."""
    levels = [level for level, _ in paragraphs if level > 0]
    if len(levels) < _MIN_MAIN_HEADINGS or paragraphs[0][0] <= 0 or is_known_title(strip_number(paragraphs[0][1])):
        return False
    return levels[0] < min(levels[1:]) or (paragraphs[1][0] == levels[0] == min(levels))


class ParsedTable(IdeaTable):
    kind: Literal["table"]


class ParsedText(Frozen):
    """Paragraphs of a document, as extracted by a parser in a separate process."""

    kind: Literal["text"]
    title: str
    """Text styled as the document's title, with a line for each paragraph; may be empty."""
    named: str = ""
    """Title in the properties of the file, which may be out of date."""
    paragraphs: tuple[tuple[int, str], ...]
    """Paragraphs with their heading level, which is 0 for text and -1 for a line in bold."""
    hidden: tuple[tuple[str, str], ...]
    """Hidden texts, not sanitised, as pairs of reason and text."""
    notes: tuple[tuple[str, str], ...] = ()
    """Footnotes and endnotes, each with the mark that the text uses to refer to it as `[^mark]`."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Parts that were not read, and why."""
    front_matter: tuple[tuple[str, str], ...] = ()
    """Metadata fields above the text, such as its authors."""
    reference_lines: tuple[str, ...] = ()
    """Printed entries of a reference list, if the format marks them as such."""
    works: tuple[CitedWork, ...] = ()
    """Entries of a structured bibliography; if there are any, they are used instead of the printed entries."""
    tables: int = 0
    parts_unread: int = 0
    """Number of embedded documents, which are not read."""

    def has_styled_headings(self) -> bool:
        """Return whether styles mark the headings. Otherwise headings are ordinary lines, perhaps in bold."""
        return sum(level > 0 for level, _ in self.paragraphs) >= _MIN_MAIN_HEADINGS

    def to_markdown(self) -> str:
        """Return the text as Markdown, marking up headings and bold lines."""
        return "\n\n".join(
            f"{'#' * level} {text}" if level > 0 else f"**{text}**" if level < 0 else text
            for level, text in self._insert_notes()
        )

    def _insert_notes(self) -> list[tuple[int, str]]:
        """Return the paragraphs with each note after the first paragraph that refers to it. Notes to which no paragraph
        refers come last."""
        unplaced_notes = dict(self.notes)
        paragraphs: list[tuple[int, str]] = []
        for level, text in self.paragraphs:
            paragraphs.append((level, text))
            paragraphs += [
                (0, f"[^{mark}]: {unplaced_notes.pop(mark)}") for mark in list(unplaced_notes) if f"[^{mark}]" in text
            ]
        return paragraphs + [(0, f"[^{mark}]: {text}") for mark, text in unplaced_notes.items()]

    def _split_title(self) -> tuple[str, tuple[tuple[int, str], ...]]:
        """Return the title and the other paragraphs. Unless a style marks the title, the first heading is the title if
        it heads the others and does not name a standard section. The title in the file's properties comes last."""
        titles = [title for title in self.title.split("\n") if title and not is_generic_title(title)]
        if titles:
            return " ".join(titles), self.paragraphs
        paragraphs = self.paragraphs
        while (
            len(paragraphs) > 1 and is_generic_title(paragraphs[0][1]) and min(paragraphs[0][0], paragraphs[1][0]) > 0
        ):
            paragraphs = paragraphs[1:]
        if _has_leading_title(paragraphs):
            return paragraphs[0][1], paragraphs[1:]
        return self.title or self._find_title_in_properties(), self.paragraphs

    def _find_title_in_properties(self) -> str:
        """Return the title in the file's properties if it is one: if the text prints it, or begins without a title."""
        title = " ".join(self.named.split())
        if len(title.split()) < _MIN_TITLE_WORDS or is_file_name(title) or is_generic_title(title):
            return ""
        opening = [text for _, text in self.paragraphs[:_OPENING_PARAGRAPHS]]
        opening_line = self.paragraphs[0][0] <= 0 and find_opening_line(self.to_markdown()) if self.paragraphs else ""
        return title if title in opening or not opening_line else ""

    def to_document(self) -> Document:
        lines = self.reference_lines or tuple(f"[{work.number}] {work.raw}" for work in self.works)
        reference_section = Section(title="References", text="\n\n".join(lines))
        return Document(
            title=self._split_title()[0],
            front_matter=tuple(FrontMatterField(name=name, value=value) for name, value in self.front_matter),
            sections=self.split_sections() + ((reference_section,) if lines else ()),
            notes=tuple(Note(mark=mark, text=text) for mark, text in self.notes),
            tables=self.tables,
            references=self.works,
            references_reader="bibtex" if self.works else "text",
            left_out=tuple(UnreadPart(part=part, reason=why) for part, why in self.left_out),
        )

    def split_sections(self) -> tuple[Section, ...]:
        """Return the sections, split at the highest heading level that occurs more than once. Lower headings, and
        reference list entries styled as headings, stay in the text."""
        _, styled = self._split_title()
        paragraphs = [(0 if reads_like_entry(text) else level, text) for level, text in styled]
        levels = [level for level, _ in paragraphs if level > 0]
        main_level = min(
            (item for item in levels if levels.count(item) >= _MIN_MAIN_HEADINGS), default=min(levels, default=0)
        )
        parts: list[tuple[str, list[str]]] = [(UNTITLED, [])]
        for level, text in paragraphs:
            if 0 < level <= main_level:
                parts.append((text, []))
            else:
                parts[-1][1].append(text)
        return tuple(
            Section(title=title, text="\n\n".join(texts)) for title, texts in parts if texts or title != UNTITLED
        )

    def to_idea(self, source: str) -> Idea:
        """Return the idea described by the text. Raises InputError."""
        document = self.to_document()
        if not self.paragraphs:
            raise InputError(f"{source} has no visible text.", "If it contains images of text, run OCR first.")
        source = f"{source} ({self.parts_unread} embedded documents not read)" if self.parts_unread else source
        if self.has_styled_headings() or document.references or self.reference_lines:
            idea = idea_of_document(document, source)
        else:
            idea = parse_idea(self.to_markdown(), source, document.title or None, known=document)
        return idea.model_copy(update={"flags": (*idea.flags, *build_hidden_flags(self.hidden))})
