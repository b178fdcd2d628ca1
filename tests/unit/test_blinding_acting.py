"""People at work on the proposal are masked without a label or title; cited authors and people of the past stay."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea

BODY = (
    "Language models state things that are not so, and readers cannot tell. We propose to quote first and to abstain "
    "where nothing can be quoted. We will measure how often a claim is borne out by what it cites, on two data sets."
)
TEXTS_OF_PEOPLE_AT_WORK = {
    "future": "Later Ilka Zorvath will train four divers.",
    "present": "The rest is easy: Ilka Zorvath builds the sensors.",
    "passive": "The labels are made by Ilka Zorvath.",
    "beside the authors": "Ilka Zorvath came to us as a volunteer.",
    "relative clause": "Will Zorvath, who edits a journal, has agreed.",
    "relative clause with a pronoun": "The cell was machined with Ilka Zorvath, with whom she shares a room.",
    "condition": "It stops if Ilka Zorvath leaves.",
    "possessive": "Our statistician is Ilka Zorvath; she comes once a week.",
    "with the author": "In March Ilka Zorvath and I discussed the plan.",
    "request": "Ilka Zorvath asked me for a letter.",
    "list of tasks": "## People\n\n- Ilka Zorvath – field work\n- Oren Tamsindo – maps",
    "comments": "**Ilka Zorvath** 3 days ago\nCut the second aim.\n\n**Oren Tamsindo** yesterday\nDone.",
    "signature at the end": "I recommend the plan.\n\nIlka Zorvath\nCorals Group",
    "beside a colleague": "Anna Roe will measure. One more is needed: Ilka Zorvath, at all hours.",
    "initials of someone who acts": "S. Zorvath and M. Tamsindo sat in the room. Zorvath writes it, Tamsindo films it.",
    "row of a table": "| Lead | Anna Roe |\n|---|---|\n| Budget keeper | Ilka Zorvath |",
    "dots": "Candidate ............ Ilka Zorvath\nStart ................ May",
    "known surname with a new first name": "Dear Ms Zorvath,\n\nwould Ilka Zorvath help?",
    "curriculum vitae": "## CV\n\n2012 PhD in acoustics\n2014 postdoc with Anna Zorvath\n\n## Plan\n\nZorvath helps.",
}
TEXTS_ABOUT_OTHER_AUTHORS = {
    "past": "Samuel Richardson wrote novels as letters; Jane Austen gave them up after a draft.",
    "stated": "Garrett Hardin argues that commons end in ruin, as Elinor Ostrom showed.",
    "by": "A third of the novels by Frances Burney are read in a tool introduced by Donald Knuth.",
    "place": "The wells near Cape Town and the Eiffel Tower are compared with Buenos Aires.",
    "method": "We use the Monte Carlo method, Penn Treebank annotations and Stanford Cars, as Bayes has.",
    "long names": "We compare Long Short Term Memory networks with Phase Two filters.",
    "tools": "Kubernetes runs it, Redis keeps it, and Kafka has it.",
}
NAMES_THAT_STAND_ALONE = {
    "thought": ("Zorvath's hunch is that drops bounce.", True),
    "pronoun": ("She (Zorvath) measured the plate again.", True),
    "first name": ("Leila keeps the clocks together.", True),
    "method": ("Oja's variant has it built in, and Hinton's weights are a relative.", False),
    "cited": ("Kahneman and Tversky showed it; Croskerry (2003) lists it.", False),
}


def _mask(text: str) -> str:
    return blind_idea(parse_idea(f"{BODY}\n\n{text}", "idea.md", "Quote, then abstain")).text


@pytest.mark.parametrize("text", TEXTS_OF_PEOPLE_AT_WORK.values(), ids=TEXTS_OF_PEOPLE_AT_WORK)
def test_people_at_work_are_masked(text: str) -> None:
    masked = _mask(text)
    assert BODY in masked
    assert [name for name in ("Zorvath", "Tamsindo", "Ilka") if name in masked] == []


@pytest.mark.parametrize("text", TEXTS_ABOUT_OTHER_AUTHORS.values(), ids=TEXTS_ABOUT_OTHER_AUTHORS)
def test_people_of_the_past_and_terms_stay(text: str) -> None:
    assert text in _mask(text)


@pytest.mark.parametrize(("text", "may_remain"), NAMES_THAT_STAND_ALONE.values(), ids=NAMES_THAT_STAND_ALONE)
def test_single_name_of_a_team_member_has_a_note(text: str, may_remain: bool) -> None:
    record = blind_idea(parse_idea(f"{BODY}\n\n{text}", "idea.md", "Quote, then abstain")).blinding
    assert record is not None
    assert record.names_may_remain is may_remain


def test_people_in_properties_of_a_page_are_masked_in_its_text() -> None:
    page = (
        f"# Quote\n\nStakeholders: Ilka Zorvath (teaching)\nStatus: draft\n\n## Why\n\n{BODY} Zorvath signs the form."
    )
    assert "Zorvath" not in blind_idea(parse_idea(page, "idea.md")).text


def test_last_word_of_a_title_is_not_a_surname() -> None:
    front = "Attention for Long Seismic Records\n\nAnna Zorvath1, Oren Tamsindo2\n1University of Ost\n\nAbstract\n"
    masked = blind_idea(parse_idea(f"{front}{BODY} Seismic records are long.", "idea.md"))
    assert masked.title == "Attention for Long Seismic Records"
    assert masked.text.endswith("Seismic records are long.")
