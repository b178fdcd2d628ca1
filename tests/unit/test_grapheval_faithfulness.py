import pytest

from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.methods.grapheval.viewpoints.faithfulness import IdeaWords, check_faithfulness

IDEA = (
    "We train three convolutional neural networks on 1,200 time series from Kenyan hospitals. "
    "GPT-4 labels them, and accuracy on MIMIC-III may rise by 2.50 points over the baseline. "
    "We do not test the networks on children."
)


@pytest.mark.parametrize(
    ("statement", "foreign_words"),
    [
        ("We train 3 CNNs on 1200 time-series.", []),
        ("Accuracy on MIMIC-III may rise by 2.5 points.", []),
        ("GPT4 labels the series.", []),
        ("GPT-4 labels the series.", []),
        ("GPT-5 labels the series.", ["GPT-5"]),
        ("The series come from Kenyan hospitals.", []),
        ("We train 4 networks on 1,300 series.", ["4", "1,300"]),
        ("We train LSTMs on the series.", ["LSTMs"]),
        ("The series come from Ugandan hospitals.", ["Ugandan"]),
        ("We train the networks by self-distillation.", ["self-distillation"]),
        ("Labels come from GPT5.", ["GPT5"]),
    ],
)
def test_numbers_names_and_terms_missing_from_the_idea_are_detected(statement: str, foreign_words: list[str]) -> None:
    assert IdeaWords(IDEA).find_foreign_words(statement) == foreign_words


WORDS = "We do not test the networks on children."


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("We do not test our networks on children.", WORDS, ""),
        ("The networks are not tested with children.", WORDS, ""),
        ("We do not test the networks.", "We never test any network on minors.", "its words do not stand"),
        ("We do not test the networks on 12 children.", WORDS, "12 stands nowhere"),
        (
            "Reinforcement agents negotiate prices across volatile electricity markets.",
            WORDS,
            "content words stand nowhere",
        ),
    ],
)
def test_viewpoint_that_exceeds_its_idea_is_rejected_with_reason(text: str, words: str, reason: str) -> None:
    faithful, rejected = check_faithfulness([Viewpoint(text=text, words=words)], IdeaWords(IDEA))
    assert len(faithful) == (not reason)
    assert [reason in item.reason for item in rejected] == ([True] if reason else [])
