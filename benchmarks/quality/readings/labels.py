"""What strong readers said of the papers that the program had found for two ideas: `readings` of the data folder."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.quality.grapheval.data import read_records

__all__ = ["LabelledPaper", "Sought", "for_contribution", "for_methods"]

_CLOSE = 3
"""Of 5: the least closeness that a paper needs to be set beside the idea."""


class LabelledPaper(NamedTuple):
    text: str
    """Title and abstract, as the reader saw them."""
    wanted: bool


class Sought(NamedTuple):
    """What papers were found for, and what a reader said of each."""

    idea: str
    text: str
    papers: tuple[LabelledPaper, ...]


def for_methods(folder: Path) -> dict[str, list[Sought]]:
    """By idea, its methods. A paper is wanted if it tells something of the method, neutral outcomes included."""
    records = read_records(folder / "readings" / "method_relevance.jsonl.gz")
    return _by_idea(records, "method", lambda one: bool(one["relevant"]))


def for_contribution(folder: Path) -> dict[str, list[Sought]]:
    """By idea, the idea as far as it is known here: its title and the descriptions of its methods. A paper is wanted if
    it comes close to what the idea claims to add."""
    said: dict[str, list[str]] = {}
    for idea, methods in for_methods(folder).items():
        said[idea] = [one.text for one in methods]
    records = [
        {**one, "as": "\n".join([one["idea"], *said.get(one["idea"], [])])}
        for one in read_records(folder / "readings" / "contribution_closeness.jsonl.gz")
    ]
    return _by_idea(records, "as", lambda one: int(one["closeness"]) >= _CLOSE)


def _by_idea(
    records: Iterable[dict[str, Any]], by: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, list[Sought]]:
    papers: dict[tuple[str, str], list[LabelledPaper]] = {}
    for one in records:
        papers.setdefault((one["idea"], one[by]), []).append(LabelledPaper(one["paper"], wanted(one)))
    found: dict[str, list[Sought]] = {}
    for (idea, text), some in papers.items():
        found.setdefault(idea, []).append(Sought(idea, text, tuple(some)))
    return found
