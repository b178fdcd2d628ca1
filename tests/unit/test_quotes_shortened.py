"""An ellipsis may shorten what a source says; it may not make another figure or another statement of it."""

import time

import pytest

from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.models import PaperId


def checked(quote: str, text: str) -> Quoted:
    quoted = check_quote(quote, Evidence(label="P1", paper_id=PaperId("a"), title="A study", year=None, text=text))
    assert quoted is not None
    return quoted


@pytest.mark.parametrize(
    ("quote", "text", "said"),
    [
        (
            "We enrolled patients and found that about 1 … 5 % of them had died within a year",
            "We enrolled patients and found that about 1 million cases, of which 5 % of them had died within a year.",
            "its ellipsis cuts “1” from “million”",
        ),
        (
            "The mortality of the patients rose by 1 … percent of those who had been treated",
            "The mortality of the patients rose by 1 in the first and by 25 percent of those who had been treated.",
            "its ellipsis cuts “1” from “in”",
        ),
        (
            "In the trial the drug saved … percent of all the elderly patients in a year",
            "In the trial the drug saved at least 25 percent of all the elderly patients in a year.",
            "its ellipsis cuts “25” from what follows it",
        ),
        (
            "The drug reduced mortality by … 25 % in all the elderly patients",
            "The drug reduced mortality by somewhat less than 25 % in all the elderly patients.",
            "its ellipsis cuts “less than” from what follows it",
        ),
        (
            "Mortality fell by exactly 5 % … in the group of elderly patients",
            "Mortality fell by exactly 5 % in the young and by 25 % in the group of elderly patients.",
            "its ellipsis brings “5” to another place",
        ),
        (
            "In the young group mortality fell by … 25 % in the elderly patients",
            "In the young group mortality fell by 5 % and by 25 % in the elderly patients.",
            "its ellipsis brings “25” to another place",
        ),
        (
            "The new drug increased the survival of women … reduced mortality by a quarter in men",
            "The new drug increased the survival of women whereas the old one reduced mortality by a quarter in men.",
            "its ellipsis joins parts of two clauses",
        ),
        (
            "The new treatment of patients … reduce the mortality of the elderly",
            "The new treatment of patients may in some cases reduce the mortality of the elderly.",
            "its ellipsis leaves out “may”",
        ),
        (
            "The new treatment of patients … reduce the mortality of the elderly",
            "The new treatment of patients in these trials is believed to reduce the mortality of the elderly.",
            "its ellipsis leaves out “believed to”",
        ),
        (
            "The drug worked well in patients with hepatitis … reduced mortality by 25 % overall",
            "The drug worked well in patients with hepatitis B. The placebo reduced mortality by 25 % overall.",
            "its ellipsis joins parts of two sentences",
        ),
    ],
)
def test_shortening_that_changes_what_is_said_is_refused_and_told(quote: str, text: str, said: str) -> None:
    quoted = checked(quote, text)
    assert (quoted.state, quoted.objection) == ("not_found", said)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (
            "The new treatment, tested in nine trials … reduced the mortality of the elderly",
            "The new treatment, tested in nine trials (see Table 2 and [12]), reduced the mortality of the elderly.",
        ),
        (
            "The new drug for the patients … reduced mortality by 25 % in men",
            "The new drug for the patients, while it was cheap to make, reduced mortality by 25 % in men.",
        ),
        (
            "The study that was begun in 2020 … showed that mortality fell by 25 %",
            "The study that was begun in 2020 by the group of Smith showed that mortality fell by 25 %.",
        ),
        (
            "Mortality fell by 25 % in men … who had been treated for a year",
            "Mortality fell by 25 % in men of the second of the groups who had been treated for a year.",
        ),
        (
            "The method of the authors … reduces mortality in the elderly",
            "The method of the authors proposed by J. Smith et al. reduces mortality in the elderly.",
        ),
    ],
)
def test_shortening_by_an_aside_is_verified(quote: str, text: str) -> None:
    quoted = checked(quote, text)
    assert quoted.state == "verified", quoted.objection


@pytest.mark.parametrize(
    ("quote", "text", "said"),
    [
        (
            "the number of patients who were enrolled in the trials rose to 1",
            "We see that the number of patients who were enrolled in the trials rose to 1 million in a year.",
            "it cuts “1 million” in the source",
        ),
        (
            "percent of the patients in the group died within a year",
            "We see that 25 percent of the patients in the group died within a year.",
            "it begins right after “25” in the source",
        ),
        (
            "5 percent of the patients in the group died within a year",
            "We see that less than 5 percent of the patients in the group died within a year.",
            "it begins right after “less than” in the source",
        ),
    ],
)
def test_quote_may_not_cut_a_number_from_what_it_counts(quote: str, text: str, said: str) -> None:
    quoted = checked(quote, text)
    assert (quoted.state, quoted.objection) == ("not_found", said)


@pytest.mark.parametrize("piece", ["from 1   ", "1 ", "(", "1.", "may ", "at ", "; ", "[1,", "while ", "-", "一", "不"])
def test_time_of_an_ellipsis_grows_with_what_it_leaves_out(piece: str) -> None:
    def seconds(size: int) -> float:
        text = f"The new treatment of the patients {piece * (size // len(piece))} reduced the mortality of the elderly."
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            checked("The new treatment of the patients … reduced the mortality of the elderly", text)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(40_000) < 8 * seconds(10_000) + 0.05
