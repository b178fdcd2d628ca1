"""Words that stand in a source are still no quote of it when what was cut away changes what they say."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.evidence import Evidence, Quoted, ShownPlace, check_quote
from assayer.citing.spelling import Letters, origins, spelled, unified
from assayer.models import PaperId

CLAIM = "the new treatment reduces the mortality of elderly patients in all of the trials"
CLAIM_FIRST = f"T{CLAIM[1:]}."


def checked(quote: str, text: str, title: str = "A study") -> Quoted:
    quoted = check_quote(quote, Evidence(label="P1", paper_id=PaperId("a"), title=title, year=None, text=text))
    assert quoted is not None
    return quoted


@pytest.mark.parametrize(
    "frame",
    [
        "There is no evidence that {}.",
        "It is not true that {}.",
        "We failed to find that {}.",
        "Our data do not show, in any of the groups that we looked at, that {}.",
        "It remains unclear whether {}.",
        "None of the experiments that were run so far shows that {}.",
        "We reject the hypothesis that {}.",
        "It does not, in our opinion, follow that {}.",
        "Nobody has shown (as some claim) that {}.",
        "The view that it helps is wrong; it is unlikely that {}.",
    ],
)
def test_statement_cut_from_under_its_denial_is_not_verified(frame: str) -> None:
    quoted = checked(CLAIM, f"We ran trials. {frame.format(CLAIM)} We say more below.")
    assert quoted.state == "not_found"
    assert quoted.objection is not None
    assert quoted.objection.startswith("it begins right after")


@pytest.mark.parametrize("negation", ["not", "never", "fail to", "cannot", "doesn't", "hardly ever"])
def test_quote_that_begins_right_after_a_negation_is_not_verified(negation: str) -> None:
    words = "improve the accuracy of the larger models on any of the nine tasks"
    assert checked(words, f"Such methods {negation} {words}.").state == "not_found"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("It does not rely on other models and {}.", "verified"),
        ("It doesn't need labels, and {}.", "verified"),
        ("No method needs labels and {}.", "not_found"),
        ("It is not clear that it relies on others and {}.", "verified"),
    ],
)
def test_an_inflected_verb_after_and_is_a_predicate_of_its_own(text: str, state: str) -> None:
    words = "achieves the best accuracy of all on each of the nine tasks"
    assert checked(words, text.format(words)).state == state


def test_a_bare_verb_after_and_is_still_denied() -> None:
    words = "achieve the best accuracy of all on each of the nine tasks"
    assert checked(words, f"It does not rely on other models and {words}.").state == "not_found"


@pytest.mark.parametrize(
    "text",
    [
        "We do not know the cost; {}.",
        "The old treatment did not help. It is said that {}.",
        "This is not only cheap, but {}.",
        "The cost is not known and we show that {}.",
        "Although the old one did nothing for anybody, {}.",
        "There is no doubt that {}.",
    ],
)
def test_negation_of_another_clause_does_no_harm(text: str) -> None:
    quote = f"we show that {CLAIM}" if "we show that" in text else CLAIM
    assert checked(quote, text.format(CLAIM)).state == "verified"


def test_quote_that_carries_its_negation_is_verified() -> None:
    text = "We did not find that the new treatment reduces mortality in any of the trials."
    quoted = checked("did not find that the new treatment reduces mortality in any of the trials", text)
    assert quoted.state == "verified"


def test_ellipsis_over_a_negation_is_not_verified_and_over_anything_else_is() -> None:
    text = "The new treatment, which we tested in nine trials, in no way did reduce mortality in elderly patients."
    assert checked("The new treatment, which we tested … reduce mortality in elderly patients", text).objection
    text = text.replace("in no way did", "did")
    quoted = checked("the new treatment which we tested ... reduce mortality in elderly patients", text)
    assert quoted.words == "The new treatment, which we tested … reduce mortality in elderly patients"


def test_pieces_of_two_sentences_are_not_verified() -> None:
    text = "The new treatment was tested in nine trials. Rest and sleep reduced mortality in elderly patients."
    quoted = checked("The new treatment was tested … reduced mortality in elderly patients", text)
    assert (quoted.state, quoted.objection) == ("not_found", "its ellipsis joins parts of two sentences")


def test_whole_sentences_around_an_ellipsis_stay_two_sentences() -> None:
    text = "The treatment was tested in nine trials. It was cheap. Rest and sleep reduced mortality in all patients."
    quoted = checked("The treatment was tested in nine trials … rest and sleep reduced mortality in all patients", text)
    assert quoted.words == "The treatment was tested in nine trials. … Rest and sleep reduced mortality in all patients"


@pytest.mark.parametrize("between", [" ", ", ", " – "])
def test_sentences_run_into_one_are_not_verified(between: str) -> None:
    text = "We tested the treatment of the elderly patients. The control group died within a year of the trial."
    quote = f"the treatment of the elderly patients{between}the control group died within a year"
    assert checked(quote, text).objection == "it runs two sentences into one"


def test_sentences_quoted_with_their_full_stop_are_verified() -> None:
    text = "We tested the treatment of Smith et al. in patients. The control group died within a year of the trial."
    quote = "the treatment of Smith et al. in patients. the control group died"
    assert checked(quote, text).words == "the treatment of Smith et al. in patients. The control group died"


@pytest.mark.parametrize("text", ["{}. We say more.", "Nothing of it.", "{}"])
def test_title_of_the_paper_is_no_quote(text: str) -> None:
    title = "Large language models judge research ideas as well as expert reviewers do"
    assert checked(title, text.format(title), title).objection == "it is the title of the paper"


def test_heading_of_a_section_is_no_quote() -> None:
    heading = "Results of the new treatment on the mortality of elderly patients"
    evidence = Evidence(
        label="P1",
        paper_id=PaperId("a"),
        title="A study",
        year=None,
        text=f"{heading}\n\nIt helped in all of them.",
        places=(ShownPlace(start=0, name=heading),),
    )
    quoted = check_quote(heading, evidence)
    assert quoted is not None
    assert quoted.state == "not_found"


@pytest.mark.parametrize(
    "quote", ["new treatment", "the new treatment reduces the mortality", "of the in which it was to be all that is so"]
)
def test_few_words_are_no_quote(quote: str) -> None:
    text = f"{CLAIM_FIRST} And of the in which it was to be all that is so much more."
    assert checked(quote, text).state == "not_found"


def test_short_sentence_is_a_quote_when_it_is_whole() -> None:
    text = "We ran trials. Larger treatments reduced mortality everywhere. We say more."
    assert checked("Larger treatments reduced mortality everywhere", text).state == "verified"


def test_chinese_without_spaces_is_counted_by_its_letters() -> None:
    text = "新的治疗方法在所有试验中降低了老年患者的死亡率。费用也更低。"
    assert checked("新的治疗方法在所有试验中降低了老年患者的死亡率", text).state == "verified"


def test_what_is_shown_is_the_source_and_not_what_the_answer_wrote() -> None:
    text = "We show – in 9 trials (of 12) – that “the ﬁrst treatment” reduces mortality by 12.4 % [12], as expected."
    quote = (
        "we show [@invented] in 9 trials! of 12? that the first treatment: reduces mortality by 12.4% (12) as expected"
    )
    quoted = checked(quote.replace("[@invented] ", "[@] "), text)
    assert quoted.state == "verified"
    assert quoted.words == text.removesuffix(".")


def test_slips_show_the_spelling_of_the_source() -> None:
    text = (
        "We observed that the behaviour of all the larger models that we tried generalises to the nine remaining tasks."
    )
    quoted = checked(
        "the behavior of all the larger models that we tried generalizes to the nine remaining tasks", text
    )
    assert quoted.words == text.removeprefix("We observed that ").removesuffix(".")


def test_quote_is_verified_where_one_of_the_places_it_stands_in_allows_it() -> None:
    text = f"There is no evidence that {CLAIM}. Later work found this: {CLAIM}."
    assert checked(CLAIM, text).state == "verified"


def test_quote_tells_its_place() -> None:
    evidence = Evidence(
        label="P1",
        paper_id=PaperId("a"),
        title="A study",
        year=None,
        text=f"We ran trials.\n\n3 Results\n\nThere were many.\n\n{CLAIM_FIRST}",
        places=(ShownPlace(start=0, name="abstract"), ShownPlace(start=16, name="3 Results")),
    )
    quoted = check_quote(CLAIM, evidence)
    assert quoted is not None
    assert quoted.place == "3 Results"


@given(st.text(max_size=200))
def test_every_spelled_letter_knows_where_it_came_from(text: str) -> None:
    letters, places = Letters.of(spelled(unified(text))).letters, origins(text)
    assert len(letters) == len(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


@pytest.mark.parametrize(
    "piece", ["not ", "a. ", "1-\n", "- ", "( ", "... ", "&amp", "é\u0301", "that , ", '." ', "fail to of no ", "\n \n"]
)
def test_time_grows_with_the_length_of_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece)) + CLAIM
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            checked(CLAIM, text + " ")
            best = min(best, time.process_time() - began)
        return best

    assert seconds(80_000) < 8 * seconds(20_000) + 0.05


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("That {} is not supported by our data.", "its sentence goes on “is not supported” in the source"),
        ("We tested the hypothesis that {} and rejected it.", "its sentence goes on “and rejected it” in the source"),
        ("Some say that {}, which was refuted by three trials.", "its sentence goes on “was refuted” in the source"),
        ("We find that {} only when doses are high.", "its sentence goes on “only when” in the source"),
        ("But is it so that {}? It is not.", "it is part of a question in the source"),
        ("Few studies have found that {}.", "it begins right after “Few studies” in the source"),
        ("It is a myth that {}.", "it begins right after “myth that” in the source"),
    ],
)
def test_words_that_their_sentence_takes_back_or_asks_for_are_no_quote(text: str, said: str) -> None:
    assert checked(CLAIM, text.format(CLAIM)).objection == said


@pytest.mark.parametrize("text", ["{}, and it was not expensive.", "{} in those who were not treated before.", "{}."])
def test_negation_of_something_else_after_a_quote_is_none_of_it(text: str) -> None:
    assert checked(CLAIM, f"We find that {text.format(CLAIM)}").state == "verified"
