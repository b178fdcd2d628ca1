"""Invented works, added to a reference list in its own style."""

import random
import re
import textwrap
from typing import NamedTuple

from assayer.literature.paper_identity import family_name
from assayer.models import CitedWork, Idea
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.identifiers import ADDRESS

__all__ = ["Planted", "plant_inventions"]

_PLANTED = 2
_FIRST = ["Seasonal", "Adaptive", "Delayed", "Recurrent", "Sparse", "Robust", "Coupled", "Layered"]
_SECOND = ["drift", "calibration", "inference", "labelling", "sedimentation", "negotiation", "signalling", "triage"]
_THIRD = "alpine ferries, rural archives, migrating starlings, regional orchestras, coastal greenhouses, night trains"
_FAMILIES = [
    "Hartvigsen",
    "Okonedo",
    "Brzozka",
    "Lindqvarn",
    "Tamuraya",
    "Delacourbe",
    "Ostermeyer",
    "Vankirch",
    "Quispenza",
    "Abernathwick",
]
_SHORT_LINE = 120
_MARK = re.compile(r"^\s*(?P<before>[\[(]?)(?P<number>\d{1,3})(?P<after>[\])]?\.?)(?P<space>\s*)", re.MULTILINE)


class Planted(NamedTuple):
    idea: Idea
    """The idea with the invented entries at the end of its list."""
    titles: tuple[str, ...]


def plant_inventions(idea: Idea, seed: str) -> Planted:
    """Add invented entries to the list of an idea: entries of the list with other names and another title."""
    chance = random.Random(seed)
    models = [work for work in idea.references if work.authors and len(work.title) > 20 and work.title in work.raw]
    if not models or not idea.reference_list:
        return Planted(idea, ())
    listed, titles = idea.reference_list.rstrip(), list[str]()
    lines = [len(line) for line in listed.splitlines() if line.strip()]
    width = max(lines) if max(lines) < _SHORT_LINE and len(lines) > 2 * len(idea.references) * 0.7 else 10_000
    gap = "\n\n" if listed.count("\n\n") >= len(idea.references) - 1 else "\n"
    last = len(idea.references)
    for number in range(last + 1, last + 1 + _PLANTED):
        title = f"{chance.choice(_FIRST)} {chance.choice(_SECOND)} of {chance.choice(_THIRD.split(', '))} {number}"
        title = f"{title.rstrip('0123456789 ')} under uncertain {chance.choice(_SECOND)}"
        entry = _invented(chance.choice(models), title, chance)
        listed += gap + textwrap.fill(_marked(entry, number, listed, idea.references), width, break_on_hyphens=False)
        titles.append(title)
    works = idea.references if idea.references_reader == "bibtex" else ()
    added = parse_references(listed)
    references = (*works, *added[-_PLANTED:]) if works else added
    return Planted(idea.model_copy(update={"reference_list": listed, "references": references}), tuple(titles))


def _invented(model: CitedWork, title: str, chance: random.Random) -> str:
    entry = ADDRESS.sub("", model.raw).replace(model.title, title, 1).rstrip(" ,.;:") + "."
    for author in model.authors:
        entry = entry.replace(family_name(author), chance.choice(_FAMILIES), 1)
    return entry


def _marked(entry: str, number: int, listed: str, works: tuple[CitedWork, ...]) -> str:
    """Return an entry with the number that its list would give it; without one if the list has no numbers."""
    marks = [mark for mark in _MARK.finditer(listed) if mark["before"] or mark["after"] or mark["space"]]
    if sum(work.number is not None for work in works) < len(works) / 2 or not marks:
        return entry
    mark = marks[0]
    return f"{mark['before']}{number}{mark['after']}{mark['space'] or ' '}{entry}"
