"""Texts of real papers."""

import gzip
import json
import random
from pathlib import Path

from index.segments.passages import paper_text

__all__ = ["texts_of"]


def texts_of(path: Path, count: int, seed: int = 7) -> list[str]:
    """Titles and abstracts of so many papers of a JSON Lines file, in random order."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    chosen = random.Random(seed).sample([one for one in records if one.get("abstract")], count)
    return [paper_text(one["title"], one["abstract"]) for one in chosen]
