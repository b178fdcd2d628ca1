"""Dimensions: the built-in five, and those that users register in the same form."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import (
    BUILT_IN_DIMENSIONS,
    ENTRY_POINT_GROUP,
    Band,
    RubricDimension,
    Scale,
    load_dimensions,
    resolve_dimensions,
)

VALUE = """
[[dimension]]
name = "value for money"
title = "Value for money"
question = "Does what is asked for stand in proportion to what would be delivered?"
evidence = ["literature"]
sections = ["budget", "work package"]
weight = 2
scale = {{ min = 1, max = 6 }}
bands = [{bands}]
"""
BANDS = (
    '{ low = 5, high = 6, means = "Every position is needed and priced fairly." },'
    '{ low = 3, high = 4, means = "Some positions are high or not explained." },'
    '{ low = 1, high = 2, means = "The price is out of proportion." }'
)


def a_file(folder: Path, text: str) -> Path:
    path = folder / "agency.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_built_in_dimensions_are_the_five_of_the_paper() -> None:
    assert tuple(one.name for one in resolve_dimensions(None)) == BUILT_IN_DIMENSIONS


def test_a_file_replaces_the_built_in_ones_but_those_it_keeps(tmp_path: Path) -> None:
    own = VALUE.format(bands=BANDS)
    assert [one.name for one in load_dimensions(a_file(tmp_path, own))] == ["value for money"]
    kept = load_dimensions(a_file(tmp_path, f'keep = ["novelty"]\n{own}'))
    assert [one.name for one in kept] == ["novelty", "value for money"]
    assert kept[1].share(3.5) == pytest.approx(0.5)


def test_the_example_of_an_agency_can_be_used_as_it_is() -> None:
    criteria = load_dimensions(Path(__file__).parents[2] / "examples" / "agency-criteria.toml")
    assert [one.name for one in criteria] == ["novelty", "impact", "team and means", "value for money"]
    assert {(one.scale.min, one.scale.max) for one in criteria[1:]} == {(1, 6)}


def test_dimensions_may_come_from_a_program(tmp_path: Path) -> None:
    (value,) = load_dimensions(a_file(tmp_path, VALUE.format(bands=BANDS)))
    assert resolve_dimensions((value,)) == (value,)
    with pytest.raises(InputError, match="more than one dimension"):
        resolve_dimensions((value, value))


@pytest.mark.parametrize(
    ("bands", "told"),
    [
        (BANDS.replace("high = 6", "high = 5"), "cover the scale"),
        (BANDS.replace("low = 1", "low = 2"), "cover the scale"),
        (BANDS.replace("high = 4", "high = 5"), "overlap"),
        (BANDS.replace("low = 3, high = 4", "low = 3, high = 3"), "no band covers the scores between 3 and 5"),
        (BANDS.replace("low = 3", "low = 4.5"), "ends before it begins"),
        (BANDS.split(",{", maxsplit=1)[0], "at least 2 items"),
    ],
)
def test_bad_rubrics_are_refused_naming_file_and_dimension(tmp_path: Path, bands: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        load_dimensions(a_file(tmp_path, VALUE.format(bands=bands)))
    assert "agency.toml: dimension 'value for money' (number 1)" in refused.value.message
    assert told in refused.value.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('keep = ["beauty"]', "keep names no built-in or registered dimension: 'beauty'"),
        ("keep = [[1]]", "registered dimension: [1]"),
        ('keep = "novelty"', "keep is not a list"),
        ("keep = []", "agency.toml has no dimension"),
        (VALUE.format(bands=BANDS).replace('"literature"', '"rumour"'), "evidence.0"),
        (VALUE.format(bands=BANDS).replace("min = 1, max = 6", "min = 6, max = 1"), "its end must lie above its start"),
        (VALUE.format(bands=BANDS).replace("value for money", "Value For Money", 1), "name"),
        (VALUE.format(bands=BANDS).replace("value for money", "background", 1), "another part of the report"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        load_dimensions(a_file(tmp_path, text))
    assert told in refused.value.message


@pytest.mark.parametrize(
    ("least", "most", "bands", "scores"),
    [
        (0, 3, ((2, 3), (0, 1)), (0, 0.5, 1, 2, 2.5, 3)),
        (0, 1, ((0.75, 1), (0, 0.5)), (0, 0.5, 0.75, 1)),
        (1, 3, ((2.3, 3), (1, 1.7)), (1, 1.5, 1.7, 2.3, 2.8, 3)),
        (0, 400, ((397, 400), (392, 396), (0, 391)), (*range(0, 391, 4), 391, 392, 396, 397, 400)),
    ],
)
def test_scores_are_the_ends_of_bands_and_the_steps_between(
    least: float, most: float, bands: Sequence[tuple[float, float]], scores: Sequence[float]
) -> None:
    given = tuple(Band(low=low, high=high, means="As good as this.") for low, high in bands)
    scale = Scale(min=least, max=most)
    dimension = RubricDimension(name="worth", title="Worth", question="How much is it worth?", scale=scale, bands=given)
    assert dimension.scores == tuple(scores)


def test_built_in_dimensions_take_halves_inside_their_bands_alone() -> None:
    pairs = (score for low in (1, 3, 5, 7, 9) for score in (low, low + 0.5, low + 1))
    assert {one.scores for one in resolve_dimensions(None)} == {(0, *pairs)}


def test_every_built_in_rubric_says_what_is_not_its_matter() -> None:
    assert all("Does not count" in one.guidance for one in resolve_dimensions(None))


REGISTERED = """
from assayer.methods.innoeval.dimensions import Band, RubricDimension

IMPACT = RubricDimension(
    name="impact",
    title="Impact",
    question="Which problem outside the project would be smaller if it succeeded?",
    bands=(Band(low=5, high=10, means="A documented need."), Band(low=0, high=4, means="Nobody is shown to gain.")),
)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers three dimensions, two of them badly."""
    installed = tmp_path / "installed"
    facts = installed / "funder-1.0.dist-info"
    facts.mkdir(parents=True)
    (installed / "funder_criteria.py").write_text(REGISTERED, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: funder\nVersion: 1.0\n", encoding="utf-8")
    entries = "impact = funder_criteria:IMPACT\nreach = funder_criteria:IMPACT\nmoney = funder_criteria:MONEY\n"
    (facts / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{entries}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(installed))


@pytest.mark.usefixtures("package")
def test_a_dimension_that_a_package_registers_is_kept_by_its_name(tmp_path: Path) -> None:
    own = VALUE.format(bands=BANDS)
    names = [one.name for one in load_dimensions(a_file(tmp_path, f'keep = ["impact", "novelty"]\n{own}'))]
    assert names == ["novelty", "impact", "value for money"]
    assert [one.name for one in resolve_dimensions(None)] == list(BUILT_IN_DIMENSIONS)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("reach", "the package funder registers 'reach', and funder_criteria:IMPACT is no dimension of that name"),
        ("money", "'money' of the package funder cannot be loaded: module 'funder_criteria' has no attribute 'MONEY'"),
        ("beauty", "registered by packages: impact, money, reach"),
    ],
)
def test_a_registration_that_cannot_be_used_is_refused_by_package(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        load_dimensions(a_file(tmp_path, f'keep = ["{name}"]'))
    assert told in str(refused.value)
