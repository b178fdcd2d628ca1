"""Letters to applicants: placeholders are filled once, and lines that nothing fills are left out."""

from orchestrator.reviewing.letters import fill_template, find_unknown_placeholders

VALUES = {"applicant": "Ada Byron", "title": "Rehearsal", "reason": "", "comments": "", "amount": "10"}


def test_line_with_only_empty_placeholders_is_omitted() -> None:
    template = "Dear {applicant},\n\nit is funded with {amount} {reason}.\n\n{reason}\n\n{comments}\n\nYours\n"
    assert fill_template(template, VALUES) == "Dear Ada Byron,\n\nit is funded with 10 .\n\nYours\n"


def test_paragraph_without_a_filled_placeholder_is_omitted() -> None:
    template = "{applicant}\n{reason}\nYale\n\nFrom the reviews:\n{comments}\n\nYours"
    assert fill_template(template, VALUES) == "Ada Byron\nYale\n\nYours\n"
    filled = fill_template(template, VALUES | {"comments": "One.\n\nTwo."})
    assert filled == "Ada Byron\nYale\n\nFrom the reviews:\nOne.\n\nTwo.\n\nYours\n"


def test_braces_in_a_value_are_not_placeholders() -> None:
    letter = fill_template("{comments}", VALUES | {"comments": "Use {title} and {unknown}."})
    assert letter == "Use {title} and {unknown}.\n"


def test_unknown_placeholders_are_named() -> None:
    assert find_unknown_placeholders("{applicant} {applicnt} {x.__class__} {title}") == ["applicnt", "x.__class__"]
