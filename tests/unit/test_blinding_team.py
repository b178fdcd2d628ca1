"""Members of a team are masked wherever the words beside a name show that it is a member's; cited authors stay."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.blinding.lone_surnames import find_authors_of_unpublished, find_lone_surnames
from assayer.ideas.parsing import parse_idea

BODY = (
    "Snails seal their shells in summer, and nobody has counted how many wake. We propose to weigh them each week and "
    "to count who wakes after rain, as Ankel (1936) and Cook et al. (2001) did in the lab with other species."
)
LONE = {
    "lab": "In Zorvath's lab the scales are built.",
    "group": "The Zorvath group has 40 scales.",
    "place of our work": "In Zorvath's cave we weigh by night.",
    "unpublished": "Few wake (Zorvath and Tamsindo, unpublished).",
    "one of several citations": "Few wake (Ankel 1936; Zorvath & Tamsindo, in preparation).",
    "in German": "Wenige erwachen (Zorvath und Tamsindo, eingereicht).",
    "in French": "Peu se réveillent (Zorvath et Tamsindo, sous presse).",
    "future": "Zorvath and Tamsindo will supervise two students.",
    "student": "Zorvath and her student count shells.",
    "apposition": "Zorvath, our technician, mends the scales.",
    "apposition with an article": "The keys are with Zorvath, the lab manager.",
    "relative": "Ilka Zorvath and her husband, Tamsindo, dive. Prof. Zorvath's brother, Oren, counts.",
    "co-investigators": "Co-investigators Zorvath and Tamsindo meet each Monday.",
    "led by": "The field work is led by Zorvath.",
    "role": "The project assistant will be Zorvath. Zorvath weighs.",
    "a student": "With us works a doctoral student, Zorvath.",
    "task": "WP2 (Zorvath). WP3 (lead: Tamsindo; from May). Zorvath has 40 scales.",
    "budget": "Postdoctoral researcher (Zorvath, 12 months): 60,000.",
    "subaward": "Subaward (subaward PI: Ilka Zorvath): 20,000.",
    "Spanish": "Zorvath supervisará el trabajo, y Tamsindo analizará los datos.",
    "Polish": "Zadanie drugie wykona Zorvath.",
    "capitals": "- DE LA ZORVATH, Ilka (co-investigator) – 20 %",
    "students of the past": "## Supervision\n\nCompleted: Ilka Zorvath (2021), Oren Tamsindo (2022).",
    "title before a surname": "Le poids est noté par la doctora Zorvath et dr hab. Tamsindo.",
    "role before a name": "Pomaga nam technik Ilka Zorvath, oraz la becaria Oren Tamsindo.",
    "role after a name": "Ilka Zorvath (Doktorandin) und Oren Tamsindo, Techniker",
    "elision": "Nous pesons avec l'ingénieur Oren d'Zorvath ; la thèse d'Ilka Tamsindo le montre.",
    "signature": "Mit freundlichen Grüßen\nIlka Zorvath",
}
STAY = {
    "cited group": "Ankel's group has argued that few wake [7]. In Sealy's lab, seals were dissolved (1987).",
    "cited as published": "Few wake (Sealy, 1987; Ankel and Cook, 2001).",
    "things": "The scales will lead to better counts. Kubernetes will run it, and Zenodo will host the data.",
    "results": "Results from Crete will direct the rest. The Infection and Immunity group agrees.",
    "task": "WP2 (Weighing). Task 3 (months 4-9; lead time: Short).",
    "heading in capitals": "SNAILS, Shells and their seals\n\nSUMMER, Rain",
}


def _mask(text: str) -> str:
    return blind_idea(parse_idea(f"{BODY}\n\n{text}\n\n{BODY}", "idea.md", "Sealed snails")).text


@pytest.mark.parametrize("text", LONE.values(), ids=LONE)
def test_member_of_the_team_is_masked(text: str) -> None:
    masked = _mask(text)
    assert [name for name in ("Zorvath", "ZORVATH", "Tamsindo", "Ilka", "Oren") if name in masked] == []
    assert "Ankel (1936) and Cook et al. (2001)" in masked


@pytest.mark.parametrize("text", STAY.values(), ids=STAY)
def test_cited_authors_and_things_stay(text: str) -> None:
    assert text in _mask(text)


def test_surname_is_masked_wherever_it_occurs_once_it_is_known() -> None:
    masked = _mask("Few wake (Zorvath-Lee, in review).\n\nZorvath-Lee and Cook (1999) differ; see zorvath_notes.pdf.")
    assert "orvath" not in masked
    assert "Cook (1999)" in masked


def test_german_nouns_after_tasks_are_no_surnames() -> None:
    text = (
        "Das Gewicht der Schnecken wird mit der Waage im Labor und auf dem Feld bestimmt. AP 2 (Wägung): Wägung im Mai."
    )
    assert list(find_lone_surnames(text)) == []


def test_citation_of_unpublished_work_ends_at_its_bracket() -> None:
    text = "(Ankel, 1936; Cook 2001), then Sealy's data, unpublished; (Li, in press)"
    assert [named.person.family for named in find_authors_of_unpublished(text)] == ["Li"]
