"""Adding of invented works to a reference list, in the style of the list."""

import random
import re
import textwrap
from typing import NamedTuple

from assayer.literature.paper_identity import extract_family_name
from assayer.models import CitedWork, Idea
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.entry_shape import strip_mark
from assayer.reference_lists.identifiers import ADDRESS

_INVENTION_COUNT = 2
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

_KEY = re.compile(r"\s*\[[^\[\]\n]*[^\W\d][^\[\]\n]*\] ")
"""Key of an entry: `[Lee19] `."""


class PlantedIdea(NamedTuple):
    idea: Idea
    """Idea with the invented entries added to its reference list."""
    titles: tuple[str, ...]


def plant_inventions(idea: Idea, seed: str) -> PlantedIdea:
    """Add invented entries to an idea's reference list, made from its own entries with other names and another
    title."""
    rng = random.Random(seed)
    models = [work for work in idea.references if work.authors and len(work.title) > 20 and work.title in work.raw]
    if not models or not idea.reference_list:
        return PlantedIdea(idea, ())
    list_text, titles = idea.reference_list.rstrip(), list[str]()
    if "{.csl-left-margin}" in list_text:
        list_text = "\n\n".join(f"{work.number}. {work.raw}" for work in idea.references)
    lines = [len(line) for line in list_text.splitlines() if line.strip()]
    width = max(lines) if max(lines) < _SHORT_LINE and len(lines) > 2 * len(idea.references) * 0.7 else 10_000
    gap = "\n\n" if list_text.count("\n\n") >= len(idea.references) - 1 else "\n"
    last_number = max((work.number or 0 for work in idea.references), default=0) or len(idea.references)
    invented_works = list[CitedWork]()
    for number in range(last_number + 1, last_number + 1 + _INVENTION_COUNT):
        title = f"{rng.choice(_FIRST)} {rng.choice(_SECOND)} of {rng.choice(_THIRD.split(', '))} {number}"
        title = f"{title.rstrip('0123456789 ')} under uncertain {rng.choice(_SECOND)}"
        entry = _invent_entry(rng.choice(models), title, rng)
        list_text = _add_entry(list_text, entry, number, idea.references, models[-1], gap, width)
        invented_works += parse_references(entry)
        titles.append(title)
    is_bibtex = idea.references_reader == "bibtex"
    references = (*idea.references, *invented_works) if is_bibtex else parse_references(list_text)
    return PlantedIdea(idea.model_copy(update={"reference_list": list_text, "references": references}), tuple(titles))


def _add_entry(
    list_text: str, entry: str, number: int, works: tuple[CitedWork, ...], last_work: CitedWork, gap: str, width: int
) -> str:
    """Return the list with an entry added: at the end of a numbered list, or after the last entry of an unnumbered
    one."""
    marked_entry = _add_mark(entry, number, list_text, works)
    printed_entry = textwrap.fill(marked_entry, width, break_on_hyphens=False)
    start = list_text.rfind(last_work.raw[-30:])
    if marked_entry != entry or start < 0:
        return list_text + gap + printed_entry
    end = start + len(last_work.raw[-30:])
    return f"{list_text[:end]}{gap}{printed_entry}{list_text[end:]}"


def _invent_entry(model: CitedWork, title: str, rng: random.Random) -> str:
    entry = ADDRESS.sub("", strip_mark(model.raw)).replace(model.title, title, 1).rstrip(" ,.;:") + "."
    for author in model.authors:
        family, invented = extract_family_name(author), rng.choice(_FAMILIES)
        entry = entry.replace(family, invented.upper() if family.isupper() else invented, 1)
    return entry


def _add_mark(entry: str, number: int, list_text: str, works: tuple[CitedWork, ...]) -> str:
    """Return the entry with a number or key in the style of the list; unchanged if the list has neither."""
    marks = [mark for mark in _MARK.finditer(list_text) if mark["before"] or mark["after"] or mark["space"]]
    if bullet := re.match(r"[-*] ", list_text):
        return bullet[0] + entry
    if _KEY.match(list_text):
        return f"[Har{number}] {entry}"
    if sum(work.number is not None for work in works) < len(works) / 2 or not marks:
        return entry
    mark = marks[0]
    return f"{mark['before']}{number}{mark['after']}{mark['space'] or ' '}{entry}"
