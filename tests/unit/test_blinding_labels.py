"""Names after labels of forms and programs, in tables and in lists, in many languages; and values that are no names."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea

BODY = (
    "We propose to weigh the snow that lies on roofs and to compare it with what gauges in open fields report. Each "
    "owner of a roof sends a weight once a week. A Kalman filter joins both series, as Osei and Brandt (2018) advise."
)
FAMILIES = ("Okpara", "Brzozka", "Quispe", "Ågesen")
LINES = {
    "properties of a page": "Owner: Ify Okpara\nCreated by: Kamila Brzozka\nStatus: Draft",
    "properties without colon": "**Owner** Ify Okpara\n**Assignee** Kamila Brzozka\n**Status** Draft",
    "properties in words": "Owner Ify Okpara\nAssignee Kamila Brzozka\nTags snow, roofs",
    "address in brackets": "**Contact**: Okpara, Ify <okpara@example.org>",
    "labels on a line": "Author: Ify Okpara, Reviewer: Kamila Brzozka",
    "account of a property": "Assignee: @Ify Okpara\nLast edited by: Kamila Brzozka, Tadeo Quispe",
    "wide columns": "PI:          Ify Okpara\nCo-PIs:      Kamila Brzozka; Tadeo Quispe",
    "dash": "Author – Ify Okpara\nAdvisor – Kamila Brzozka",
    "degrees": "Owner: Ify Okpara, PhD, University of Elmsea",
    "initials": "Contact person: I. Okpara\nSecond contact: K. Brzozka",
    "one line": "Owner: Ify Okpara | Reviewer: Kamila Brzozka | Status: Draft",
    "list below": "Authors:\n- Ify Okpara\n- Kamila Brzozka, Harrow Institute\n- Tadeo Quispe",
    "list below, unmarked": "Project team\nIfy Okpara (lead)\nKamila Brzozka\nTadeo Quispe",
    "table with roles": "Role | Name | Months\n\nLead | Ify Okpara | 3\n\nPartner | Kamila Brzozka | 2",
    "icons": "👤 Owner: Ify Okpara\n👥 People: Kamila Brzozka",
    "two labels": "| PI / Co-PI | Ify Okpara / Kamila Brzozka |\n|---|---|\n| Budget | 40,000 |",
    "label with more words": "Name of Co-PI: Ify Okpara, MSc\nResponsible for sensors: Kamila Brzozka",
    "labels in brackets": "WP1 Weighing (lead: Ify Okpara)\nWP2 Ice (lead: K. Brzozka; support: Tadeo Quispe)",
    "columns of surnames": "No. | Family name | Given name\n\n1 | Okpara | Ify\n\n2 | Brzozka | Kamila",
    "surname first": "Name, first name | Okpara, Ify\n\nName, first name | Brzozka, Kamila",
    "single label of a column": "| Member | Task |\n|---|---|\n| Ify Okpara | Ice |\n| K. Brzozka | Snow |",
    "unknown label": "Hakemuksen jättäjä: Ify Okpara\nAraştırmacının adı soyadı: Kamila Brzozka",
    "italics": "_Prepared for the Snow Board by Ify Okpara and Kamila Brzozka_",
    "biography": "Bio: Ify Okpara studied snow at the University of Elmsea and joined Harrow Institute in 2019.",
    "proposal for": "A proposal for the Snow Board by Ify Okpara, written in spring",
    "thanks": "We thank our student Ify Okpara for photographs and Kamila Brzozka for the key of the tower.",
    "thanks in French": "Nous tenons à remercier Ify Okpara et notre stagiaire Kamila Brzozka.",
    "publications": (
        "## Selected publications of the applicant\n\nOkpara I, Brzozka K (2021) Ten roofs. Ice 3:4-9\n\n## Plan"
    ),
    "table of tasks": "| Task | Responsible |\n|---|---|\n| Weighing | Ify Okpara |\n| Ice | K. Brzozka |",
    "table of values": "| Principal Investigator | Ify Okpara |\n| Co-Investigator | Kamila Brzozka |",
    "prepared for": "Prepared for the Snow Board of Elmsea by Ify Okpara and Kamila Brzozka",
    "prepared by": "Prepared by Ify Okpara for the Snow Board",
    "comments": "Drafted in spring by Ify Okpara, with comments from Kamila Brzozka",
    "please contact": "For questions, please contact Ify Okpara or Kamila Brzozka.",
    "German byline": "von Ify Okpara-Brix\n\nÜbersetzt von Kamila Brzozka",
    "German": "vorgelegt von Ify Okpara\nBetreuer: Prof. Dr. Kamila Brzozka\nVerfasserin: Tadeo Quispe",
    "French": "Porteur : Ify Okpara\nCo-encadrante : Kamila Brzozka\nRédigé par Tadeo Quispe",
    "Spanish": "Coinvestigadores: Ify Okpara, Kamila Brzozka\nDirectora de tesis: Tadeo Quispe",
    "Portuguese": "Orientadora: Profa. Dra. Ify Okpara\nPesquisador responsável: Kamila Brzozka\nEquipe: Tadeo Quispe",
    "Italian": "Responsabile scientifico: dott.ssa Ify Okpara\nRelatore: Kamila Brzozka\nPresentato da Tadeo Quispe",
    "Polish": "Kierownik projektu: dr hab. Ify Okpara\nWykonawcy: mgr inż. Kamila Brzozka, Tadeo Quispe",
    "Czech": "Řešitel: Mgr. Ify Okpara, Ph.D.\nŠkolitelka: doc. Kamila Brzozka",
    "Hungarian": "Vezető kutató: Ify Okpara\nTémavezető: Kamila Brzozka",
    "Finnish": "Hakija: Ify Okpara\nVastuullinen tutkija: Kamila Brzozka\nTekijät: Tadeo Quispe",
    "Swedish": "Huvudsökande: Ify Okpara\nMedsökande: Kamila Brzozka\nHandledare: Tadeo Quispe",
    "Norwegian": "Prosjektleder: Ify Ågesen\nVeileder: Kamila Brzozka\nForfattere: Tadeo Quispe",
    "Dutch": "Hoofdaanvrager: Ify Okpara\nBegeleider: Kamila Brzozka\nIngediend door Tadeo Quispe",
    "Turkish": "Hazırlayan: Ify Okpara\nProje yürütücüsü: Kamila Brzozka\nDanışman: Doç. Dr. Tadeo Quispe",
    "Romanian": "Director de proiect: Ify Okpara\nÎndrumător: Kamila Brzozka",
    "Indonesian": "Disusun oleh: Ify Okpara\nPembimbing: Kamila Brzozka\nKetua peneliti: Tadeo Quispe",
    "Vietnamese": "Chủ nhiệm đề tài: Ify Okpara\nNgười hướng dẫn: Kamila Brzozka",
    "Greek": "Επιστημονικός υπεύθυνος: Ify Okpara\nΕπιβλέπων: Kamila Brzozka",
    "Russian": "Руководитель проекта: Ify Okpara\nИсполнители: Kamila Brzozka, Tadeo Quispe",
}


def mask_text(text: str) -> str:
    return blind_idea(parse_idea(f"# Snow on roofs\n\n{text}", "idea.md")).text


@pytest.mark.parametrize("place", ["above", "below"])
@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_names_after_labels_are_masked_above_and_below_the_text(lines: str, place: str) -> None:
    text = mask_text(f"{lines}\n\n{BODY}" if place == "above" else f"{BODY}\n\n{lines}\n\n{BODY}")
    assert [name for name in FAMILIES if name in text] == []
    assert BODY in text


@pytest.mark.parametrize(
    "line",
    [
        "Owner: a roof's owner\nStatus: Draft",
        "Contact: metal on metal",
        "Lead: Lead Oxide\n\nWhite lead oxide is a paint.",
        "Team: Snow on Roofs",
        "Responsible: Snow Load",
        "| Person | Load |\n|---|---|\n| Each owner | Snow |\n| Osei Scale | Ice |",
        "Task | Responsible\n\nWeighing | Each owner\n\nFiltering | Kalman filter",
        "Study area: Baixo Mondego\nCall: Horizon Futures",
        "Team size: four\nContact angle: 70 degrees\nPartner search: open",
        "Reporter – a gene that shows light\nOwner – whoever pays",
    ],
)
def test_values_that_are_not_names_are_kept(line: str) -> None:
    assert line in mask_text(f"{BODY}\n\n{line}\n\n{BODY}")


def test_text_below_a_team_table_is_not_masked() -> None:
    team = "## Research team\n\nResearcher | Position\n\nIfy Okpara | Postdoc\n\nK. Brzozka | Professor"
    assert BODY in mask_text(f"{team}\n\n{BODY}")
