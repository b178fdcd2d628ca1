"""Board prompts leave out the middle of a long text."""

from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.innoeval.prompt_evidence import label_evidence, shorten_middle
from tests.unit.innoeval_evidence import make_read_source

ABSTRACT = (
    "We ask whether quotes are true. " + "Much is said in between. " * 60 + "Errors fell from 31 to 4 in a hundred."
)


def test_shortened_abstract_keeps_first_and_last_sentence() -> None:
    text = shorten_middle(ABSTRACT, 300)
    assert text.startswith("We ask whether quotes are true.")
    assert text.endswith("Errors fell from 31 to 4 in a hundred.")
    assert text.count(" […] ") == 1


def test_paper_that_is_cut_begins_with_its_own_work() -> None:
    paper = make_read_source("literature", 1).model_copy(update={"text": f"Quotes matter to all. {ABSTRACT}"})
    page = make_read_source("web", 1).model_copy(update={"text": f"Quotes matter to all. {ABSTRACT}"})
    cut_paper, cut_page = label_evidence([paper, page], 300)
    assert cut_paper.text.startswith("We ask whether quotes are true.")
    assert cut_page.text.startswith("Quotes matter to all.")
    assert max(len(cut_paper.text), len(cut_page.text)) <= 300
    assert label_evidence([paper], 5_000)[0].text == paper.text


@given(st.text(max_size=600), st.integers(100, 500))
def test_shortened_text_respects_limit_and_short_text_is_unchanged(text: str, max_characters: int) -> None:
    shortened = shorten_middle(text, max_characters)
    assert len(shortened) <= max_characters
    assert (shortened == text) == (len(text) <= max_characters)
