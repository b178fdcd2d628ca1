"""Parsed form of one document, without the id of the paper to which it belongs."""

from typing import Literal

from assayer.models import CitedWork, Frozen, FullText, PaperId, Section, TextFlag

ParserName = Literal["grobid", "pypdfium2"]


class ParsedPaper(Frozen):
    parser: ParserName
    version: str
    """The parser's version, as reported by the parser."""
    title: str
    """Title; may be empty."""
    sections: tuple[Section, ...]
    """The paper's sections, starting with the abstract if there is one."""
    references: tuple[CitedWork, ...] = ()
    flags: tuple[TextFlag, ...] = ()
    """Flagged text that readers cannot see. It is not part of the other fields."""

    def to_full_text(self, paper: PaperId) -> FullText:
        return FullText(
            paper_id=paper,
            sections=self.sections,
            parser=self.parser,
            references=self.references,
            flags=self.flags,
        )
