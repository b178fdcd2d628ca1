"""From what was found to what a prompt shows of it."""

from collections.abc import Sequence

from assayer.methods.innoeval.dossier import Kind
from assayer.methods.innoeval.schemas import Find
from assayer.models import Paper
from assayer.run import Run
from assayer.sanitise import sanitise

__all__ = ["batches", "clean", "cut", "find_of", "one_line"]

_LONGEST_TITLE = 300
"""Characters."""


def one_line(text: str) -> str:
    return " ".join(sanitise(text)[0].split())


def clean(text: str, paper: Paper, run: Run, limit: int) -> str:
    """At most so many sanitised characters, ending with a whole word; texts that give orders are journalled."""
    text, flags = sanitise(text[: limit * 2])
    if any(flag.kind == "suspected_injection" for flag in flags):
        run.journal.suspects[paper.id] = one_line(paper.title)[:_LONGEST_TITLE]
    text = text.strip()
    return text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0]


def cut(text: str, most: int) -> str:
    """At most so many characters, ending with a whole word and a sign that it goes on."""
    return text if len(text) <= most else f"{text[: most - 2].rpartition(' ')[0]} …"


def find_of(paper: Paper, kind: Kind, text: str, standing: str = "", full_text: bool = False) -> Find:
    """Without its label, which `batches` gives."""
    return Find(
        label="P0",
        paper_id=paper.id,
        title=one_line(paper.title)[:_LONGEST_TITLE],
        year=paper.publication_date.year if paper.publication_date else None,
        text=text,
        full_text=full_text,
        kind=kind,
        standing=standing,
    )


def batches(finds: Sequence[Find], most: int, most_chars: int | None = None) -> list[tuple[Find, ...]]:
    """Splits finds, in order, into calls of at most `most` finds and about `most_chars` characters; labels count
    from P1 in each."""
    split: list[list[Find]] = []
    room = 0
    for find in finds:
        if not split or len(split[-1]) >= most or (most_chars is not None and len(find.text) > room):
            split.append([])
            room = most_chars or 0
        split[-1].append(find.model_copy(update={"label": f"P{len(split[-1]) + 1}"}))
        room -= len(find.text)
    return [tuple(batch) for batch in split]
