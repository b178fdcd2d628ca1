"""Documents rebuilt from public reports of reading errors, stored next to the clone, and how they are read."""

import datetime as dt
from pathlib import Path

import pytest

from assayer.models import Idea
from workers.documents.idea_reader import read_ideas

CASES = Path(__file__).parents[3] / "shared" / "cases"
NEEDS_CASES = pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not beside the clone")


async def read(name: str) -> Idea:
    (idea, *_) = (await read_ideas([CASES / name], latest_cutoff=dt.date(2026, 11, 28))).ideas
    return idea
