"""The 158 rows of a call: 118 files, and a table with 37 more proposals and three invalid rows."""

import csv
import io
import random
from pathlib import Path
from typing import NamedTuple

from benchmarks.records import read_records

_FILE_COUNT, _ROW_COUNT = 118, 37
_INVALID_ROWS = (("A-2026-0901", "Empty", ""), ("A-2026-0902", "Too short", "Later."), ("A-2026-0903", "", ""))
_FIELDS = (
    ("coral reefs", "sound recordings", "which larvae settle where"),
    ("mine slag", "pulsed currents", "which metals can be won back"),
    ("quiet rotors", "serrated edges", "where the noise of blades comes from"),
    ("salt marshes", "repeated aerial surveys", "how fast they follow the sea"),
    ("language models", "rehearsal of examples at risk", "what the next round of training overwrites"),
    ("old manuscripts", "multispectral pictures", "which words were scraped off"),
    ("grid batteries", "acoustic probes", "when a cell begins to fail"),
    ("urban trees", "sap flow sensors", "which streets they cool"),
    ("peer review", "paired readings", "where two readers part"),
    ("river ice", "buried fibres", "when a dam of ice will break"),
)
_TITLE_STARTS = (
    "Listening to",
    "Predicting",
    "Mapping",
    "A cheap test for",
    "Early signs in",
    "What moves",
    "Reading",
    "Rates of",
)


class ProposalFile(NamedTuple):
    name: str
    content: bytes


def generate_proposals() -> list[ProposalFile]:
    """Return invented proposals, which may appear in published screenshots."""
    rng = random.Random(19)
    texts = [_generate_proposal(number, rng) for number in range(1, _FILE_COUNT + _ROW_COUNT + 1)]
    files = [
        ProposalFile(f"A-2026-{number:04}.txt", f"# {title}\n\n{text}".encode())
        for number, (title, text) in enumerate(texts, 1)
    ]
    return [
        *files[:_FILE_COUNT],
        _build_table([(f"A-2026-{number:04}", *text) for number, text in enumerate(texts, 1)][_FILE_COUNT:]),
    ]


def read_proposals(data: Path) -> list[ProposalFile]:
    """Return real ideas from the data folder: 48 of ScholarIdeas, 49 of AI-Researcher, 21 awards, and 37 more awards as
    table rows."""
    texts = [path.read_text("utf-8") for path in sorted(data.glob("scholarideas/*/*.txt")) if path.name != "cutoff.txt"]
    texts += [record["text"] for record in read_records(data / "ai_researcher" / "ideas.jsonl.gz")]
    awards = [(record["title"], record["abstract"]) for record in read_records(data / "grants" / "nsf_2026.jsonl.gz")]
    missing_count = _FILE_COUNT - len(texts)
    texts += [f"# {title}\n\n{text}" for title, text in awards[:missing_count]]
    files = [ProposalFile(f"A-2026-{number:04}.txt", text.encode()) for number, text in enumerate(texts, 1)]
    table_awards = awards[missing_count : missing_count + _ROW_COUNT]
    return [
        *files,
        _build_table([(f"A-2026-{number + _FILE_COUNT:04}", *award) for number, award in enumerate(table_awards, 1)]),
    ]


def _generate_proposal(number: int, rng: random.Random) -> tuple[str, str]:
    subject, means, question = _FIELDS[number % len(_FIELDS)]
    title = f"{_TITLE_STARTS[number // len(_FIELDS) % len(_TITLE_STARTS)]} {subject}"
    sites, years = rng.randint(3, 40), rng.randint(2, 5)
    author = "Authors: Grace Hopper, Yale University\n\n" if number in (5, 42) else ""
    text = (
        f"{author}We ask {question}, and study {subject} with {means} at {sites} sites over {years} years. Earlier "
        "work looked at single places and told causes from company only by their order in time. We change one thing "
        "at a time at half of the sites, drawn by lot, and keep the others as they are. The first outcome is "
        "measured by people who do not know which site is which. With this many sites an effect of "
        f"{rng.randint(5, 30)} % is found with a power of 0.8. We publish data and programs, negative results "
        f"included. Number {number}."
    )
    return title, text


def _build_table(rows: list[tuple[str, str, str]]) -> ProposalFile:
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(("id", "title", "text"))
    table.writerows([*rows, *_INVALID_ROWS])
    return ProposalFile("more.csv", text.getvalue().encode())
