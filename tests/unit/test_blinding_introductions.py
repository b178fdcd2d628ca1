"""People are masked whatever phrase introduces them."""

import pytest

from assayer.blinding.blind import blind_idea, spans_to_mask
from assayer.blinding.spans import apply
from assayer.ideas.parsing import parse_idea

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


@pytest.mark.parametrize(
    "line",
    [
        "I, Zwqx Arstd, a beekeeper of long standing, count bees.",
        "I (Zwqx Arstd) will count bees.",
        "I am Zwqx Arstd.",
        "We, Zwqx Arstd and Oien Luyj, propose bees.",
        "The undersigned, Zwqx Arstd, keeps bees.",
        "~ By Zwqx Arstd, 2024",
        "Written and edited by Zwqx Arstd.",
        "Prepared for the council by Zwqx Arstd",
        "Posted by Zwqx Arstd on May 3, 2024",
        "© 2024 Zwqx Arstd",
        "Contact Zwqx Arstd at zwqx@example.org",
        "Zwqx Arstd <zwqx@example.org>",
        "Zwqx Arstd, PhD",
        "— Zwqx Arstd",
    ],
)
def test_bylines_name_people_whose_first_names_are_unknown(line: str) -> None:
    plan = "We count what the bees of a garden carry home. " * 6
    masked = blind_idea(parse_idea(f"# Bees of a garden\n\n{plan}\n\n{line}\n\n{plan}", "idea.md"))
    assert "Zwqx" not in masked.text
    assert "Arstd" not in masked.text
    assert masked.blinding is not None
    assert not masked.blinding.names_may_remain


@pytest.mark.parametrize(
    "line",
    ["Learning by Gradient Descent.", "I, Robot is a book.", "Trained by Deep Nets on Image Nets", "World War II, MD"],
)
def test_phrases_like_bylines_are_not_masked(line: str) -> None:
    plan = "We count what a robot, deep nets and a gradient descent carry home from image to image in a war. " * 3
    idea = parse_idea(f"# Bees of a garden\n\n{plan}\n\n{line}\n\n{plan}", "idea.md")
    assert blind_idea(idea).text == idea.text
