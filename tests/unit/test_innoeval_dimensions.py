"""Dimensions: the built-in five, and those that users register in the same form."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import Band, RubricDimension, Scale, load_dimensions

VALUE_DIMENSION = """
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


def write_dimensions(folder: Path, text: str) -> Path:
    path = folder / "agency.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_dimensions_file_replaces_built_in_dimensions_except_those_it_keeps(tmp_path: Path) -> None:
    own_dimension = VALUE_DIMENSION.format(bands=BANDS)
    assert [load_dimension.name for load_dimension in load_dimensions(write_dimensions(tmp_path, own_dimension))] == [
        "value for money"
    ]
    dimensions = load_dimensions(write_dimensions(tmp_path, f'keep = ["novelty"]\n{own_dimension}'))
    assert [item.name for item in dimensions] == ["novelty", "value for money"]
    assert dimensions[1].compute_share(3.5) == pytest.approx(0.5)


def test_example_agency_criteria_file_can_be_loaded() -> None:
    criteria = load_dimensions(Path(__file__).parents[2] / "examples" / "agency-criteria.toml")
    assert [item.name for item in criteria] == ["novelty", "impact", "team and means", "value for money"]
    assert {(item.scale.min, item.scale.max) for item in criteria[1:]} == {(1, 6)}


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        (BANDS.replace("high = 6", "high = 5"), "cover the scale"),
        (BANDS.replace("low = 1", "low = 2"), "cover the scale"),
        (BANDS.replace("high = 4", "high = 5"), "overlap"),
        (BANDS.replace("low = 3, high = 4", "low = 3, high = 3"), "no band covers the scores between 3 and 5"),
        (BANDS.replace("low = 3", "low = 4.5"), "is reversed"),
        (BANDS.split(",{", maxsplit=1)[0], "at least 2 items"),
    ],
)
def test_bad_rubrics_are_refused_naming_file_and_dimension(tmp_path: Path, bands: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        load_dimensions(write_dimensions(tmp_path, VALUE_DIMENSION.format(bands=bands)))
    assert "agency.toml: dimension 'value for money' (number 1)" in raised.value.message
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('keep = ["beauty"]', "`keep` contains names that are not built-in dimensions: 'beauty'"),
        ("keep = [[1]]", "not built-in dimensions: [1]"),
        ('keep = "novelty"', "`keep` must be a list"),
        ("keep = []", "agency.toml has no dimension"),
        (VALUE_DIMENSION.format(bands=BANDS).replace('"literature"', '"rumour"'), "evidence.0"),
        (
            VALUE_DIMENSION.format(bands=BANDS).replace("min = 1, max = 6", "min = 6, max = 1"),
            "max must be greater than min",
        ),
        (VALUE_DIMENSION.format(bands=BANDS).replace("value for money", "Value For Money", 1), "name"),
        (VALUE_DIMENSION.format(bands=BANDS).replace("value for money", "background", 1), "another part of the report"),
    ],
)
def test_invalid_dimension_files_are_rejected(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        load_dimensions(write_dimensions(tmp_path, text))
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("min_score", "max_score", "bands", "scores"),
    [
        (0, 3, ((2, 3), (0, 1)), (0, 0.5, 1, 2, 2.5, 3)),
        (0, 1, ((0.75, 1), (0, 0.5)), (0, 0.5, 0.75, 1)),
        (1, 3, ((2.3, 3), (1, 1.7)), (1, 1.5, 1.7, 2.3, 2.8, 3)),
        (0, 400, ((397, 400), (392, 396), (0, 391)), (*range(0, 391, 4), 391, 392, 396, 397, 400)),
    ],
)
def test_scores_include_band_ends_and_steps_between(
    min_score: float, max_score: float, bands: Sequence[tuple[float, float]], scores: Sequence[float]
) -> None:
    score_bands = tuple(Band(low=low, high=high, means="As good as this.") for low, high in bands)
    scale = Scale(min=min_score, max=max_score)
    dimension = RubricDimension(
        name="worth", title="Worth", question="How much is it worth?", scale=scale, bands=score_bands
    )
    assert dimension.scores == tuple(scores)
