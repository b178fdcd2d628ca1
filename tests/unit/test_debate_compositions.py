"""Who sits in a debate: the thirteen, and one's own."""

from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.methods.debate.composition import COMPOSITIONS, composition
from assayer.methods.debate.options import DebateOptions


def test_the_thirteen_hold_what_the_paper_says_of_three_of_them() -> None:
    numbered = [*COMPOSITIONS.values()]
    assert len(numbered) == 13
    sizes = {(one.moderators, one.analysts, one.critics, one.evaluators) for one in numbered}
    assert len(sizes) == 13
    assert numbered[0].analysts == 0
    assert numbered[9].evaluators == 0
    assert (numbered[10].analysts, numbered[10].evaluators, len(numbered[10].voters)) == (2, 1, 3)
    assert DebateOptions().composition_called() == numbered[10]


def test_an_unknown_composition_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"no composition 'jury'.*two-analysts-evaluator") as refused:
        composition("jury")
    assert refused.value.field == "judge"


def test_settings_change_rounds_and_temperature_of_whatever_is_chosen() -> None:
    chosen = DebateOptions(rounds=3, temperature=0.2).composition_called("two-analysts")
    assert (chosen.rounds, chosen.temperature, chosen.most_calls, chosen.depth) == (3, 0.2, 6, 3)


def _file(folder: Path, text: str) -> DebateOptions:
    path = folder / "mine.toml"
    path.write_text(text)
    return DebateOptions(compositions=path, composition="jury")


def test_compositions_of_ones_own_stand_beside_the_thirteen(tmp_path: Path) -> None:
    options = _file(tmp_path, '[[composition]]\nname = "jury"\nanalysts = 5\nrounds = 1\n')
    assert options.composition_called().most_calls == 5
    assert len(options.known_compositions()) == 14


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[composition]]\nname = "jury"\nmoderators = 1\n', "'jury' .number 1.: nobody here has a vote"),
        ('[[composition]]\nname = "jury"\nanalyst = 1\n', "'jury' .number 1.: analyst: Extra inputs"),
        ('[[composition]]\nname = "Jury!"\nanalysts = 1\n', "name: String should match"),
        ('[[composition]]\nname = "jury"\nanalysts = 99\n', "analysts: Input should be less than or equal to 5"),
        ('[[composition]]\nname = "jury"\nanalysts = 1\n' * 2, "more than one composition is called 'jury'"),
        ('[[jury]]\nname = "jury"\n', "unknown keys: jury"),
        ("", "has no composition"),
        ("name = ", "is not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_it_is_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        _file(tmp_path, text).composition_called()
