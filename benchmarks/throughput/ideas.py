"""The ideas that benchmarks evaluate: ScholarIdeas with their cutoffs."""

import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import Path

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea


def read_scholar_ideas(data: Path) -> Sequence[Idea]:
    """Read the ideas in `data/scholarideas/NAME/NAME.txt`, ordered by name; `source` is the name."""
    return [
        parse_idea(
            (folder / f"{folder.name}.txt").read_text("utf-8"),
            source=folder.name,
            cutoff=dt.date.fromisoformat((folder / "cutoff.txt").read_text("utf-8").strip()),
        )
        for folder in sorted((data / "scholarideas").iterdir())
        if (folder / f"{folder.name}.txt").is_file()
    ]


def make_copies(ideas: Iterable[Idea], number: int) -> list[Idea]:
    """Return the ideas themselves for number 0, else copies that differ in one added sentence and in their source."""
    return [
        idea
        if number == 0
        else parse_idea(
            f"{idea.text}\n\nThis is variant {number} of the plan.", f"{idea.source}-{number}", idea.title, idea.cutoff
        )
        for idea in ideas
    ]
