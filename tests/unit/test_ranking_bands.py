"""Bands at their very borders."""

import pytest

from assayer.ranking.moved_cut import choose_band
from assayer_client.rankings import Band


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_band_thresholds_include_exact_confidence_value(confidence: float) -> None:
    draws = 1_000
    confident_draws, other_draws = round(draws * confidence), round(draws * (1 - confidence))
    expected: list[tuple[int, Band]] = [
        (confident_draws, "in"),
        (confident_draws - 1, "human"),
        (other_draws + 1, "human"),
        (other_draws, "out"),
    ]
    for count, band in expected:
        assert choose_band(count / draws, confidence) == band
