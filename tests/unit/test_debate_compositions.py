"""Compositions of a debate: the thirteen built in, and custom ones."""

from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.methods.debate.composition import COMPOSITIONS, get_composition
from assayer.methods.debate.options import DebateOptions


def test_built_in_compositions_match_the_paper() -> None:
    numbered = [*COMPOSITIONS.values()]
    assert len(numbered) == 13
    sizes = {(item.moderators, item.analysts, item.critics, item.evaluators) for item in numbered}
    assert len(sizes) == 13
    assert numbered[0].analysts == 0
    assert numbered[9].evaluators == 0
    assert (numbered[10].analysts, numbered[10].evaluators, len(numbered[10].voters)) == (2, 1, 3)
    assert DebateOptions().get_composition() == numbered[10]


def test_unknown_composition_is_rejected_with_available_names() -> None:
    with pytest.raises(InputError, match=r"no composition 'jury'.*two-analysts-evaluator") as raised:
        get_composition("jury")
    assert raised.value.field == "judge"


def write_options(folder: Path, text: str) -> DebateOptions:
    path = folder / "mine.toml"
    path.write_text(text)
    return DebateOptions(compositions=path, composition="jury")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[composition]]\nname = "jury"\nmoderators = 1\n', "'jury' .number 1.: no seat has a vote"),
        ('[[composition]]\nname = "jury"\nanalyst = 1\n', "'jury' .number 1.: analyst: Extra inputs"),
        ('[[composition]]\nname = "Jury!"\nanalysts = 1\n', "name: String should match"),
        ('[[composition]]\nname = "jury"\nanalysts = 99\n', "analysts: Input should be less than or equal to 5"),
        ('[[composition]]\nname = "jury"\nanalysts = 1\n' * 2, "more than one composition is named 'jury'"),
        ('[[jury]]\nname = "jury"\n', "unknown keys: jury"),
        ("", "has no composition"),
        ("name = ", "is not valid TOML"),
    ],
)
def test_invalid_composition_file_is_rejected_with_location(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        write_options(tmp_path, text).get_composition()
