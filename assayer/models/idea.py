"""Research idea as submitted."""

import datetime as dt
import hashlib
from collections.abc import Iterable

from assayer.models.base import Frozen
from assayer.models.blinding import UnblindedWords
from assayer.models.document import CitedWork, ReadingRecord, ReferencesReader, Section
from assayer_client.reports import Blinding, FlagKind, TextFlag
from assayer_client.resources import IdeaId


def suspicious_kinds(flags: Iterable[TextFlag]) -> tuple[FlagKind, ...]:
    """Return the kinds of flags that people should review, each once. Characters that imitate assayer's labels are left
    out: they were rewritten, so they are harmless."""
    return tuple(sorted({flag.kind for flag in flags} - {"label_lookalike"}))


def append_reference_list(text: str, reference_list: str) -> str:
    """Return the text followed by its reference list, as in the original document."""
    return f"{text}\n\n## References\n\n{reference_list}" if reference_list else text


class Idea(Frozen):
    """Research idea or proposal: sanitised text, split at its own headings."""

    id: IdeaId
    """Hash of title and text, so that ideas with identical wording share an id."""
    title: str
    text: str
    """Text to judge: with headings, without front matter and reference lists."""
    sections: tuple[Section, ...]
    """Sections of `text`."""
    source: str
    """Human-readable origin of the idea: a file name, or `file.jsonl:12`."""
    cutoff: dt.date | None = None
    """Latest publication date that literature may have to be used in judging the idea."""
    flags: tuple[TextFlag, ...] = ()
    reference_list: str = ""
    """Reference lists as printed, without their headings; empty if the document had none."""
    references: tuple[CitedWork, ...] = ()
    """Entries of the reference lists. They are used only for the reference check."""
    references_reader: ReferencesReader = "text"
    reading: ReadingRecord | None = None
    """Record of the parts of the document that were read; None if the idea did not come from a document."""
    people_fields: tuple[str, ...] = ()
    """Fields above the text that name people, such as `author`. They are used for masking and never shown to a
    model."""
    blinding: Blinding | None = None
    """Record of what was masked in title, text and sections; None if the idea was judged as submitted."""
    unblinded: UnblindedWords | None = None
    """Title and text before masking; None if nothing was masked."""

    @property
    def whole_text(self) -> str:
        """Return the text with its reference list at the end, for people who read the proposal."""
        return append_reference_list(self.text, self.reference_list)

    @property
    def own_words(self) -> UnblindedWords:
        """Title and text of the idea as submitted, before masking. They are used to recognise the idea's own
        publication and references, and are never shown to a model."""
        return self.unblinded or UnblindedWords(title=self.title, text=self.text)

    @property
    def judged_id(self) -> str:
        """Id of the text that is judged. Ideas that differ only in masked text have the same id."""
        if self.blinding is None:
            return self.id
        words = " ".join(f"{self.title} {self.text}".split())
        return hashlib.sha256(words.encode()).hexdigest()[:16]
