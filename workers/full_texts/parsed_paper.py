"""What a parser made of one document, whichever paper it belongs to."""

from typing import Literal

from assayer.models import Caption, CitedWork, Frozen, FullText, PaperId, Section, TextFlag

__all__ = ["ParsedPaper", "ParserName"]

ParserName = Literal["grobid", "pypdfium2"]


class ParsedPaper(Frozen):
    parser: ParserName
    version: str
    """Of the parser, as it names itself."""
    title: str
    """May be empty."""
    sections: tuple[Section, ...]
    """The abstract first, where there is one."""
    references: tuple[CitedWork, ...] = ()
    captions: tuple[Caption, ...] = ()
    flags: tuple[TextFlag, ...] = ()
    """Text that a reader cannot see, left out of the rest."""

    def full_text(self, paper: PaperId) -> FullText:
        return FullText(
            paper_id=paper,
            sections=self.sections,
            parser=self.parser,
            references=self.references,
            captions=self.captions,
            flags=self.flags,
        )
