"""Full texts of simulated papers: sections made from the abstract and from sentences about the cited papers."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.outside.library import Entry

_MENTION_COUNT = 6
"""Number of papers mentioned in the related work; some more appear in the introduction."""


class Mention(NamedTuple):
    """Citation of another paper in a part, as a slice of its text."""

    start: int
    end: int
    cited: Entry


class Part(NamedTuple):
    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    mentions: tuple[Mention, ...]


class _Writer:
    def __init__(self) -> None:
        self.text = ""
        self.sentences: list[tuple[int, int]] = []
        self.mentions: list[Mention] = []

    def write(self, sentence: str, cited: Entry | None = None) -> None:
        """Append a sentence; `{}` in it is replaced with the citation of `cited`."""
        start = len(self.text) + bool(self.text)
        text = sentence
        if cited is not None:
            mark = _format_citation(cited)
            position = start + sentence.index("{}")
            text = sentence.replace("{}", mark, 1)
            self.mentions.append(Mention(position, position + len(mark), cited))
        self.text = f"{self.text} {text}" if self.text else text
        self.sentences.append((start, len(self.text)))

    def build_part(self, title: str) -> Part:
        return Part(title, self.text, tuple(self.sentences), tuple(self.mentions))


def write_parts(entry: Entry, cited_entries: Sequence[Entry], version: int | None = None) -> list[Part]:
    """Return introduction, related work, method, experiments and conclusion. `cited_entries` is in the order of the
    references. Versions before the newest state their number."""
    abstract_sentences = [
        f"{sentence.rstrip('. ')}." for sentence in entry.record.abstract.split(". ") if sentence.strip()
    ]
    abstract_sentences = abstract_sentences or [f"This paper is about {entry.record.title}."]
    opening, middle, close = (
        abstract_sentences[:2],
        abstract_sentences[2:-1] or abstract_sentences[-1:],
        abstract_sentences[-1:],
    )
    introduction, related, method, experiments, conclusion = (_Writer() for _ in range(5))
    for sentence in opening:
        introduction.write(sentence)
    for cited_entry in cited_entries[:2]:
        introduction.write("Our starting point is what {} showed.", cited_entry)
    for cited_entry in cited_entries[2 : 2 + _MENTION_COUNT]:
        related.write(f"Closely related is work on {cited_entry.record.title.lower()} {{}}.", cited_entry)
    if not related.text:
        related.write("To our knowledge nobody has asked this question before.")
    for sentence in middle:
        method.write(sentence)
    if cited_entries:
        method.write("The training schedule is the one of {}.", cited_entries[-1])
    for sentence in middle:
        experiments.write(f"The experiments bear this out: {sentence[:1].lower()}{sentence[1:]}")
    for sentence in close:
        conclusion.write(sentence)
    if version is not None and version < entry.versions:
        conclusion.write(f"Version {version} of this manuscript leaves open what later ones answer.")
    writers = (introduction, related, method, experiments, conclusion)
    titles = ("Introduction", "Related Work", "Method", "Experiments", "Conclusion")
    return [writer.build_part(title) for writer, title in zip(writers, titles, strict=True)]


def _format_citation(entry: Entry) -> str:
    names = [author.split()[-1] for author in entry.record.authors if author.split()] or ["Anonymous"]
    coauthors = " et al." if len(names) > 2 else f" and {names[1]}" if len(names) == 2 else ""
    return f"({names[0]}{coauthors}, {entry.record.year or 'n.d.'})"
