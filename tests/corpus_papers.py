"""Invented records on one narrow topic, and files for building a corpus."""

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

REAL_PAPERS = Path(__file__).parents[1].parent / "shared" / "data" / "papers" / "papers.jsonl.gz"
"""Beside the clone; tests that need it are skipped where it is not there."""

_SUBJECTS = (
    ("hedgerows", "wild bees", "flower strips"),
    ("orchards", "hoverflies", "dead wood"),
    ("meadows", "bumblebees", "late mowing"),
    ("vineyards", "solitary bees", "cover crops"),
    ("gardens", "butterflies", "native shrubs"),
    ("road verges", "moths", "unlit stretches"),
    ("heathland", "mining bees", "bare sand"),
    ("wetlands", "drone flies", "shallow water"),
    ("oilseed fields", "honeybees", "field margins"),
    ("city parks", "leafcutter bees", "nesting blocks"),
    ("forest edges", "beetles", "flowering trees"),
    ("pastures", "carder bees", "clover leys"),
)


def record(number: int, **fields: Any) -> dict[str, Any]:
    """A valid record; `fields` replace or add."""
    place, insect, measure = _SUBJECTS[number % len(_SUBJECTS)]
    return {
        "id": f"bee-{number:02}",
        "title": f"How {insect} use {measure} in {place}",
        "abstract": (
            f"Pollinators decline where farming leaves no room for them. We counted {insect} on transects in {place} "
            f"over three summers and compared sites with and without {measure}. Visits to flowers rose where "
            f"{measure} were near, and pollination of the crop improved. Abundance of {insect} depended more on "
            "nesting habitat than on nectar. We recommend where to place such habitat and how to monitor pollinators."
        ),
        "authors": ["Ada Field", "Ben Moor"],
        "publication_date": f"{2010 + number % 12}-0{1 + number % 9}-15",
        "year": 2010 + number % 12,
        "venue": "Journal of Invented Pollination",
        "url": f"https://example.org/bee/{number}",
        "keywords": ["pollination"],
        "citation_count": number,
    } | fields


RECORDS: tuple[dict[str, Any], ...] = (
    *(record(number) for number in range(12)),
    record(
        12,
        title="A handbook of pollinator transects",
        publication_date="2019-03-02",
        references=["bee-00", "bee-05", "unknown-1", "bee-03"],
        sections=[
            {
                "title": "Counting protocol",
                "text": "Walk each transect at noon and count every insect on a flower. " * 30
                + "Thermometers are read before every walk and again afterwards.",
            },
            {"title": "Statistics", "text": "Counts are overdispersed, so we fit a negative binomial regression."},
            {"title": "Empty", "text": "  "},
        ],
    ),
    record(13, title="An undated note on pollinator hotels", publication_date=None, year=None, references=[]),
)

ON_TOPIC = (
    "We will measure how pollinators respond to flower strips. Bees and hoverflies are counted on transects in fields "
    "with and without field margins. We expect that visits to flowers and pollination of the crop rise where nesting "
    "habitat is near."
)
OFF_FIELD = (
    "We propose a faster compiler pass for tensor programs. Loop fusion is chosen by a cost model learned from traces "
    "of earlier kernels, and register pressure is bounded by an integer program solved ahead of time."
)


def write_jsonl(path: Path, records: Iterable[dict[str, Any]] | Sequence[str]) -> Path:
    """Write records as JSON lines, gzipped if the suffix says so; strings are written unchanged."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in records]
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
