"""What a report says of a quote is no more than what was checked."""

import pytest

from assayer.models import Citation, Label, Point
from assayer.reports.citation_wording import missing_numbers, quote_state


def _citation(**fields: object) -> Citation:
    return Citation.model_validate({"label": Label("P1"), "quote": "words", "quote_state": "verified", **fields})


_CHECKED = {"outcome": "supports", "missing": "", "judged_by": "model"}


@pytest.mark.parametrize(
    ("citation", "words"),
    [
        (_citation(support=_CHECKED), "quote found"),
        (_citation(), "quote found, claim not checked"),
        (_citation(place="abstract"), "quote found in the abstract, claim not checked"),
        (_citation(place="passage", support=_CHECKED), "quote found in a passage"),
        (_citation(place="3 Results", support=_CHECKED), "quote found in “3 Results”"),
        (_citation(quote_state="not_found"), "not found in the source"),
        (
            _citation(quote_state="not_found", objection="it runs two sentences into one"),
            "not verified: it runs two sentences into one",
        ),
        (_citation(quote=None, quote_state="none"), "cited as a whole"),
    ],
)
def test_state_of_a_quote_is_said_in_words(citation: Citation, words: str) -> None:
    assert quote_state(citation) == words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((), ""),
        (("38 %",), "The number “38 %” is in none of the cited texts that were shown, nor in the idea."),
        (("38 %", "7"), "The numbers “38 %”, “7” are in none of the cited texts that were shown, nor in the idea."),
    ],
)
def test_numbers_that_were_not_found_are_named(numbers: tuple[str, ...], words: str) -> None:
    assert missing_numbers(Point(kind="strength", text="…", numbers_not_found=numbers)) == words
