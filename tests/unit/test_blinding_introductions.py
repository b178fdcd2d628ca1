"""Each way in which a text introduces its people masks them."""

import pytest

from assayer.blinding.blind import spans_to_mask
from assayer.blinding.spans import apply

INTRODUCTIONS = (
    "My name is {} and I work on corals.",
    "On campus my name is {} to all.",
    "I am called {} by all.",
    "I, {}, propose a study of corals.",
    "Here I, {}, will study corals.",
    "I am {} and work on corals.",
    "I’m {} and work on corals.",
    "We, {}, propose a study of corals.",
    "It is done under the supervision of {} in spring.",
    "The plan was submitted by {} in spring.",
    "The plan was written by {} in spring.",
    "Then the principal investigator {} decides.",
    "Then the applicant, {} decides.",
    "Then the PI {} decides.",
    "Then the co-PI, {} decides.",
    "Then the lead author {} decides.",
    "The group is led by {} here.",
    "The group is headed jointly by {} here.",
    "The work is supervised by {} here.",
    "The work is advised by {} here.",
    "The work is conducted by {} here.",
    "The tool was developed by {} here.",
    "We collaborate with {} on it.",
    "We value discussions with {} on it.",
    "We had advice from {} on it.",
    "We had supervision by {} on it.",
    "We thank {} for this.",
    "Thanks to {} it works.",
    "We are grateful to {} for this.",
    "It is done in the team of {} here.",
    "It is done in the lab of {} here.",
    "Ask my adviser {} about it.",
    "Ask our supervisor, {} about it.",
    "Ask our collaborators {} about it.",
    "Ask my student {} about it.",
    "Ask our co-PI {} about it.",
    "Ask my group leader {} about it.",
    "Ask our team member {} about it.",
    "I did my PhD on corals with {} in spring.",
    "I did my doctorate with {} in spring.",
    "I did my postdoc with {} in spring.",
)


@pytest.mark.parametrize("sentence", INTRODUCTIONS)
def test_name_is_masked_in_every_form_of_introduction(sentence: str) -> None:
    text = f"We plant corals on tiles in three bays.\n\n{sentence.format('Jane Roe')} We measure their growth."
    spans, _ = spans_to_mask(text)
    assert "Roe" not in apply(text, spans)


@pytest.mark.parametrize(
    "text",
    [
        "After World War I, New York, and later Boston grew.",
        "In phase I, Mayo Clinic, a hospital, takes part.",
        "I am Open to any method. We, Bayesians, propose priors.",
        "Type I, Type II, and power are reported.",
    ],
)
def test_numerals_and_pronouns_before_capitalised_words_are_not_masked(text: str) -> None:
    assert not [span for span in spans_to_mask(text)[0] if span.kind == "name"]
