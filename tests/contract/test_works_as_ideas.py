"""Published works as ideas: by arXiv id, DOI or address, from simulated sources over loopback."""

from pathlib import Path

import pytest

from assayer.models import Idea
from cluster import settings_loading
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.settings_loading import load_settings
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from tests.constants import CONSTANTS
from tests.e2e.program import build_full_text_settings, build_source_settings

LIBRARY = Library(SAMPLE)
ENTRY = next(item for item in LIBRARY.entries if item.arxiv and item.record.abstract)


@pytest.fixture
def records(world: OutsideWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OutsideWorld:
    """Sources of records at their twins, without full texts."""
    for name, value in {**build_source_settings(world), "HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(f"ASSAYER_{name}", value)
    monkeypatch.setattr(settings_loading, "SETTABLE", CONSTANTS)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.txt").write_text("We plant young corals on tiles in three bays and measure how they grow. " * 3)
    return world


async def read(*names: str) -> tuple[list[Idea], list[str]]:
    ideas, rejected = await read_idea_inputs([Path(name) for name in names], load_settings())
    return ideas, [item.message for item in rejected]


@pytest.mark.parametrize("form", ["{}", "arXiv:{}v2", "https://arxiv.org/abs/{}", "https://arxiv.org/pdf/{}.pdf"])
async def test_preprint_uses_abstract_when_full_text_fetching_is_off(records: OutsideWorld, form: str) -> None:
    name = form.format(ENTRY.arxiv)
    (idea,), rejected = await read(name)
    assert not rejected
    assert (idea.title, idea.source) == (ENTRY.record.title, name)
    assert [section.title for section in idea.sections] == ["Abstract"]
    assert idea.reading is not None
    (missing,) = idea.reading.unread_parts
    assert missing.part == "the full text"
    assert "ASSAYER_FULL_TEXTS__FETCH" in missing.reason


async def test_full_text_is_read_when_fetching_is_on(records: OutsideWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in build_full_text_settings(records).items():
        monkeypatch.setenv(f"ASSAYER_{name}", value)
    (idea,), rejected = await read(str(ENTRY.arxiv))
    assert not rejected
    assert idea.title == ENTRY.record.title
    assert len(idea.sections) > 1


async def test_unknown_work_is_rejected_and_other_inputs_are_read(records: OutsideWorld) -> None:
    ideas, (message,) = await read("10.9999/no-such-work", "plan.txt")
    assert [idea.source for idea in ideas] == ["plan.txt"]
    assert message.startswith("10.9999/no-such-work was not found.")


async def test_work_is_not_looked_up_when_all_sources_are_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_HOME", str(tmp_path))
    _, (message,) = await read("2401.00001")
    assert "cannot be looked up, because no literature source is enabled. Run with --profile online" in message
