"""Names in bylines, tables, teams, letters and budgets of proposals, whose first names are in no list of names."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea

BODY = (
    "We propose to measure how lakes exchange water with the ground below and what follows for the people who depend "
    "on it. We will drill wells, log pressure for three years, and compare models of flow. The result is a map."
)
FAMILIES = ("Okonedo", "Brzozka", "Quispe")
BYLINES_ABOVE_THE_TEXT = {
    "reversed": "Okonedo, Ify; Brzozka, Kamila; Quispe, Tadeo",
    "reversed, with and": "Brzozka, Kamila and Okonedo, Ify",
    "initials first": "I. Okonedo, K. Brzozka, T. Quispe",
    "initials last": "Okonedo I, Brzozka K, Quispe T",
    "initial without a point": "Chris G Okonedo1, Anna Brzozka2, & Kamila D Quispe1,2",
    "labels": "PI Name: Okonedo, Ify\nCo-PI Name: Brzozka, Kamila\nMentor: Tadeo Quispe",
    "names": "Names: Ify Okonedo, Kamila Brzozka\nNetIDs: io12, kb34",
    "group": "Group 7: Ify Okonedo, Kamila Brzozka, Tadeo Quispe",
    "team": "## Team members\n\n1. Ify Okonedo\n2. Kamila Brzozka\n\n## Plan",
    "supervisor": "Supervised by Tadeo Quispe",
}
TEAMS_BELOW_THE_TEXT = {
    "budget": "Ify Okonedo (PI, 2 months) leads. Kamila Brzozka, postdoc, models. A graduate student (Tadeo Quispe) "
    "logs.",
    "fellows": "Two postdoctoral fellows: Ify Okonedo and Kamila Brzozka, are paid.",
    "work packages": "Ify Okonedo will lead work package 1. Kamila Brzozka will coordinate work package 2.",
    "family names": "The PI (Okonedo) drilled the first wells. Co-PI Brzozka wrote the first model.",
    "laboratory": "The Brzozka lab will contribute the models. The Okonedo group will drill.",
    "collaborators": "## Collaborators\n\nKamila Brzozka (University of Elmsea) models; Tadeo Quispe of Elmsea Water "
    "drills.",
    "letter": "Dr. Ify Okonedo has our support.\n\nTadeo Quispe, Director, Harrow Water Board",
    "card": "Ify Okonedo | University of Elmsea | +44 20 7946 0000",
    "citation": "How to cite: Okonedo I, Brzozka K (2024) Water between lakes and ground. Zenodo.",
    "applicant": "A former student of the applicant, Tadeo Quispe, logged the wells.",
    "group of": "A proposal from the group of Ify Okonedo.",
}


def mask_text(text: str) -> str:
    return blind_idea(parse_idea(f"# Water between lakes and ground\n\n{text}", "idea.md")).text


@pytest.mark.parametrize(
    "text",
    [
        *(f"{above}\n\n{BODY}" for above in BYLINES_ABOVE_THE_TEXT.values()),
        *(f"{BODY}\n\n{below}" for below in TEAMS_BELOW_THE_TEXT.values()),
    ],
    ids=[*BYLINES_ABOVE_THE_TEXT, *TEAMS_BELOW_THE_TEXT],
)
def test_names_above_and_below_the_text_are_masked(text: str) -> None:
    text = mask_text(text)
    assert BODY in text
    assert [name for name in FAMILIES if name in text] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The Control group will rest, and the PI Planning meeting opens the year.",
        "Phase Two will lead to wells. Lakes, rivers and ponds are compared with Hepatitis B Virus counts.",
        "Galois group and Monte Carlo team up at the Chemistry lab.",
    ],
)
def test_terms_that_look_like_names_are_not_masked(sentence: str) -> None:
    assert sentence in mask_text(f"{BODY} {sentence}")


@pytest.mark.parametrize(
    "sentence",
    [
        "It is paid by the NSF ETAP programme for the fields that border on the Chihuahuan Desert and on many lakes.",
        "We meet the JAX-developed courses at Bar Harbor, and the Loveland Aquarium shows them to all of its visitors.",
    ],
)
def test_places_and_programmes_in_a_sentence_do_not_warn(sentence: str) -> None:
    masked = blind_idea(parse_idea(f"# Water between lakes and ground\n\n{BODY}\n\n{sentence}", "idea.md"))
    assert masked.blinding is not None
    assert not masked.blinding.names_may_remain
