"""Pools of personas: what the shipped one covers, and what a bad file is told."""

from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.methods.innoeval.personas import load_persona_pool

PERSONA = """
[[persona]]
name = "{name}"
field = "ecology"
role = "professor"
topics = ["species", "habitat", "population"]
background = "Counts birds in the same forest every spring, and knows how much a single bad year moves a trend."
goal = "See whether the sampling can carry the conclusion that is drawn."
constraints = "Checks detection and season first; leaves laboratory work to others."
familiarity = {{ literature = {level}, methods = 6, applications = 7, frontier = 3 }}
"""


def a_file(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_persona_order_changes_only_the_hash_of_the_pool(tmp_path: Path) -> None:
    one, two = PERSONA.format(name="Bird counter one", level=8), PERSONA.format(name="Bird counter two", level=4)
    first, second = load_persona_pool(a_file(tmp_path, one + two)), load_persona_pool(a_file(tmp_path, two + one))
    assert first.personas == second.personas
    assert first.sha256 != second.sha256


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[persona]", "mine.toml is not valid TOML"),
        ("", "mine.toml has no persona"),
        ("[[reviewer]]\nname = 'x'", "mine.toml has unknown keys: reviewer"),
        (PERSONA.format(name="Bird counter", level=11), "persona 'Bird counter' (number 1): familiarity.literature"),
        (PERSONA.format(name="Bird counter", level=0), "persona 'Bird counter' (number 1): familiarity.literature"),
        (PERSONA.format(name="Bird counter", level="7.5"), "familiarity.literature: Input should be a valid integer"),
        (PERSONA.format(name="Bird counter", level=5) + "age = 50", "age"),
        (PERSONA.format(name="Bird counter", level=5).replace("goal", "gaol"), "goal: Field required"),
        (PERSONA.format(name="A bird man", level=5) * 2, "more than one persona is called 'a bird man'"),
        ("[[persona]]\nfield = 'ecology'", "persona number 1: name: Field required"),
    ],
)
def test_bad_pools_are_refused_naming_file_and_persona(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        load_persona_pool(a_file(tmp_path, text))
    assert "mine.toml" in refused.value.message
    assert told in refused.value.message
