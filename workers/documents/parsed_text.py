"""Output of the processes that parse documents, and its conversion to a document or an idea."""

from typing import Literal

from assayer.errors import InputError
from assayer.ideas.parsing import UNTITLED, idea_of_document, parse_idea
from assayer.ideas.tables import IdeaTable
from assayer.models import CitedWork, Document, FrontMatterField, Frozen, Idea, Note, Section, UnreadPart
from assayer.reference_lists.entry_shape import reads_like_entry
from assayer.text.sanitise import build_hidden_flags
from assayer.text.section_titles import is_known_title, strip_number

_MAIN_HEADINGS = 2


class ParsedTable(IdeaTable):
    kind: Literal["table"]


class ParsedText(Frozen):
    """Paragraphs of a document, as extracted by a parser in a separate process."""

    kind: Literal["text"]
    title: str
    """Text styled as the document's title; may be empty."""
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
        return sum(level > 0 for level, _ in self.paragraphs) >= _MAIN_HEADINGS

    def to_markdown(self) -> str:
        """Return the text as Markdown, marking up headings and bold lines."""
        return "\n\n".join(
            f"{'#' * level} {text}" if level > 0 else f"**{text}**" if level < 0 else text
            for level, text in self._with_notes()
        )

    def _with_notes(self) -> list[tuple[int, str]]:
        """Return the paragraphs with each note after the paragraph that refers to it; all other notes come last."""
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
        its level is higher than all others and it does not name a standard section."""
        levels = [level for level, _ in self.paragraphs if level > 0]
        heads_all = len(levels) > 1 and self.paragraphs[0][0] == levels[0] < min(levels[1:])
        if self.title or not heads_all or is_known_title(strip_number(self.paragraphs[0][1])):
            return self.title, self.paragraphs
        return self.paragraphs[0][1], self.paragraphs[1:]

    def document(self) -> Document:
        lines = self.reference_lines or tuple(f"[{work.number}] {work.raw}" for work in self.works)
        listed = Section(title="References", text="\n\n".join(lines))
        return Document(
            title=self._split_title()[0],
            front_matter=tuple(FrontMatterField(name=name, value=value) for name, value in self.front_matter),
            sections=self.sections() + ((listed,) if lines else ()),
            notes=tuple(Note(mark=mark, text=text) for mark, text in self.notes),
            tables=self.tables,
            references=self.works,
            references_reader="bibtex" if self.works else "text",
            left_out=tuple(UnreadPart(part=part, reason=why) for part, why in self.left_out),
        )

    def sections(self) -> tuple[Section, ...]:
        """Return the sections, split at the highest heading level that occurs more than once. Lower headings, and
        reference list entries styled as headings, stay in the text."""
        _, styled = self._split_title()
        paragraphs = [(0 if reads_like_entry(text) else level, text) for level, text in styled]
        levels = [level for level, _ in paragraphs if level > 0]
        main = min((item for item in levels if levels.count(item) >= _MAIN_HEADINGS), default=min(levels, default=0))
        parts: list[tuple[str, list[str]]] = [(UNTITLED, [])]
        for level, text in paragraphs:
            if 0 < level <= main:
                parts.append((text, []))
            else:
                parts[-1][1].append(text)
        return tuple(
            Section(title=title, text="\n\n".join(texts)) for title, texts in parts if texts or title != UNTITLED
        )

    def idea(self, source: str) -> Idea:
        """Return the idea described by the text. Raises InputError."""
        document = self.document()
        if not self.paragraphs:
            raise InputError(f"{source} has no visible text.", "If it contains images of text, run OCR first.")
        source = f"{source} ({self.parts_unread} embedded documents not read)" if self.parts_unread else source
        if self.has_styled_headings() or document.references or self.reference_lines:
            idea = idea_of_document(document, source)
        else:
            idea = parse_idea(self.to_markdown(), source, self.title or None, known=document)
        return idea.model_copy(update={"flags": (*idea.flags, *build_hidden_flags(self.hidden))})
