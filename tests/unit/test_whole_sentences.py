"""A verified quote is shown as the whole sentences of its source, so that nothing can be cut away that changes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.evidence import Evidence, Quoted, ShownPlace, check_quote
from assayer.citing.spelling import Letters, find_origins, normalise_words, unify_forms
from assayer.models import PaperId

CLAIM = "the new treatment reduces the mortality of elderly patients in all of the trials"
CLAIM_FIRST = f"T{CLAIM[1:]}."


def check(quote: str, text: str, title: str = "A study", places: tuple[ShownPlace, ...] = ()) -> Quoted:
    evidence = Evidence(label="P1", paper_id=PaperId("a"), title=title, year=None, text=text, places=places)
    quoted = check_quote(quote, evidence)
    assert quoted is not None
    return quoted


@pytest.mark.parametrize(
    "sentence",
    [
        "There is no evidence that {}.",
        "That {} is not supported by our data.",
        "We find that {} only when doses are high.",
        "But is it so that {}?",
        "In less than 5 of {}, that is.",
    ],
)
def test_quote_cut_from_its_sentence_is_shown_with_the_full_sentence(sentence: str) -> None:
    sentence_with_claim = sentence.format(CLAIM)
    quoted = check(CLAIM, f"We ran trials. {sentence_with_claim} We say more below.")
    assert (quoted.state, quoted.words) == ("verified", sentence_with_claim.removesuffix("."))


def test_ellipsis_within_a_sentence_is_filled_from_the_source() -> None:
    text = "The new treatment, which we tested, in no way did reduce mortality in elderly patients. It was cheap."
    quoted = check("the new treatment which we tested ... reduce mortality in elderly patients", text)
    assert quoted.words == "The new treatment, which we tested, in no way did reduce mortality in elderly patients"


def test_pieces_of_two_sentences_are_shown_as_two_sentences() -> None:
    text = "The treatment was tested in nine trials. It was cheap. Rest and sleep reduced mortality in all patients."
    quoted = check("The treatment was tested … sleep reduced mortality in all patients", text)
    assert quoted.words == (
        "The treatment was tested in nine trials. … Rest and sleep reduced mortality in all patients"
    )


def test_merged_sentences_are_shown_with_original_full_stops() -> None:
    text = "We tested Smith et al. in patients. The control group died within a year of the trial. We stopped."
    quoted = check("tested Smith et al. in patients, the control group died", text)
    assert quoted.words == "We tested Smith et al. in patients. The control group died within a year of the trial"


def test_very_long_sentence_is_shortened_around_the_quote() -> None:
    text = f"{'one and ' * 200}{CLAIM} {'and another ' * 200}"
    quoted = check(CLAIM, text)
    assert CLAIM in quoted.words
    assert len(quoted.words) < 1_000
    assert quoted.words in " ".join(text.split())


@pytest.mark.parametrize("text", ["{}. We say more.", "Nothing of it.", "{}"])
def test_paper_title_is_rejected_as_quote(text: str) -> None:
    title = "Large language models judge research ideas as well as expert reviewers do"
    assert check(title, text.format(title), title).objection == "it is only the title of the paper"


def test_section_heading_is_rejected_as_quote() -> None:
    heading = "Results of the new treatment on the mortality of elderly patients"
    place = ShownPlace(start=0, name=heading)
    assert check(heading, f"{heading}\n\nIt helped in all of them.", places=(place,)).state == "not_found"


@pytest.mark.parametrize(
    "quote", ["new treatment", "the new treatment reduces the mortality", "of the in which it was to be all that is so"]
)
def test_too_few_content_words_are_rejected_as_quote(quote: str) -> None:
    text = f"{CLAIM_FIRST} And of the in which it was to be all that is so much more."
    assert check(quote, text).state == "not_found"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Larger treatments reduced mortality everywhere", "We ran trials. {}. We say more."),
        ("新的治疗方法在所有试验中降低了老年患者的死亡率", "{}。费用也更低。"),
    ],
)
def test_short_complete_sentence_is_accepted_as_quote(quote: str, text: str) -> None:
    quoted = check(quote, text.format(quote))
    assert (quoted.state, quoted.words) == ("verified", quote)


def test_verified_quote_is_shown_in_source_wording() -> None:
    text = "We show – in 9 trials (of 12) – that “the ﬁrst treatment” reduces mortality by 12.4 % [12], as expected."
    quote = "we show [@] in 9 trials! of 12? that the first treatment: reduces mortality by 12.4% (12) as expected"
    quoted = check(quote, text)
    assert (quoted.state, quoted.words) == ("verified", text.removesuffix("."))


def test_minor_spelling_differences_are_shown_in_source_spelling() -> None:
    text = "The behaviour of all the larger models that we tried generalises to the nine remaining tasks."
    assert check(text.replace("aviour", "avior").replace("alises", "alizes"), text).words == text.removesuffix(".")


def test_quote_records_its_section() -> None:
    places = (ShownPlace(start=0, name="abstract"), ShownPlace(start=16, name="3 Results"))
    text = f"We ran trials.\n\n3 Results\n\nThere were many.\n\n{CLAIM_FIRST}"
    assert check(CLAIM, text, places=places).place == "3 Results"


@given(st.text(max_size=200))
def test_every_normalised_letter_maps_to_a_source_position(text: str) -> None:
    letters, places = Letters.from_text(normalise_words(unify_forms(text))).letters, find_origins(text)
    assert len(letters) == len(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
