"""More papers on one topic than fit on a page of any source."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.outside.process import OutsideWorld

CROWD = 1_300


@contextmanager
def run_crowded_world(folder: Path) -> Iterator[OutsideWorld]:
    papers = folder / "crowd.jsonl"
    with papers.open("w") as file:
        for number in range(CROWD):
            year, month = 2008 + number // 100, 1 + number // 9 % 12
            record = {
                "id": f"crowd-{number:04}",
                "title": f"Swarm robots, study number {number}",
                "abstract": f"Swarm robots met in arena {number}. They agreed.",
                "authors": ["Ada Field"],
                "year": year,
                "publication_date": f"{year}-{month:02}-15",
                "venue": "CoRL",
                "citation_count": number,
            }
            file.write(json.dumps(record) + "\n")
    with OutsideWorld(papers, with_limits=False) as world:
        yield world
