"""Exports of forms, funders, reference managers and Notion: read if they carry a proposal, otherwise refused by name.
The people in them are masked as authors and are not text."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from assayer.models import Idea
from workers.documents.idea_reader import RejectedInput, read_ideas

TITLE = "Rewetting fens for rare birds"
PROBLEM = "Drained fens lose their birds within ten years, and nobody knows which of them come back after rewetting."
METHOD = "We count birds in twenty rewetted fens and in twenty dry ones over three summers and compare their numbers."


def render_table(*rows: tuple[str, ...], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


async def read(path: Path, name: str, content: str | object) -> tuple[list[Idea], list[RejectedInput]]:
    (path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    ideas, rejected = await read_ideas([path / name])
    return ideas, rejected


def check(idea: Idea, *, people: tuple[str, ...] = ("Roe",), texts: tuple[str, ...] = (PROBLEM, METHOD)) -> None:
    assert idea.title == TITLE
    for words in texts:
        assert idea.text.count(words) == 1
    named_fields = "; ".join(idea.people_fields)
    for person in people:
        assert person in named_fields
        assert person not in idea.text


GOOGLE = {
    "english": (
        ("Timestamp", "Email Address", "What is your full name?", "Title of your project", "Describe your problem",
         "How will you go about it? (max. 300 words)", "What budget do you need?", "Do you agree to the terms?"),
        ("5/1/2026 10:12:33", "roe@fens.example", "Jane Roe", TITLE, PROBLEM, METHOD, "12000", "Yes"),
    ),
    "statements": (
        ("Timestamp", "Your name *", "Project title *", "Please explain why this matters *", "What will you do? *"),
        ("2026/05/01 10:12:33 AM GMT+2", "Jane Roe", TITLE, PROBLEM, METHOD),
    ),
    "german": (
        ("Zeitstempel", "E-Mail-Adresse", "Vor- und Nachname", "Titel des Projekts", "Welches Problem lösen Sie?",
         "Wie gehen Sie vor?"),
        ("01.05.2026 10:12:33", "roe@fens.example", "Jane Roe", TITLE, PROBLEM, METHOD),
    ),
    "microsoft": (
        ("ID", "Start time", "Completion time", "Email", "Name", "What is the title of your proposal?",
         "Why is it needed?", "What will you do?"),
        ("1", "5/1/26 10:12:33", "5/1/26 10:20:33", "roe@fens.example", "Jane Roe", TITLE, PROBLEM, METHOD),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOGLE)
async def test_answers_to_a_form_are_read_as_proposals(name: str, tmp_path: Path) -> None:
    ideas, rejected = await read(tmp_path, "form.csv", render_table(*GOOGLE[name]))
    assert not rejected
    check(ideas[0])
    assert "12000" not in ideas[0].text
    assert "roe@" not in ideas[0].text


async def test_answers_to_a_form_without_a_proposal_are_refused_by_name(tmp_path: Path) -> None:
    rows = (("Timestamp", "Email Address", "Which day suits you?"), ("5/1/2026 10:12:33", "roe@fens.example", "Monday"))
    ideas, rejected = await read(tmp_path, "form.csv", render_table(*rows))
    assert not ideas
    assert "answers to a form" in rejected[0].message
    assert "describe" in rejected[0].message


ANR = (
    "Projet.Code_Decision_ANR", "Projet.Acronyme", "Projet.Titre.Francais", "Projet.Titre.Anglais",
    "Projet.Resume.Francais", "Projet.Resume.Anglais", "Projet.Montant.AF.Aide_allouee.ANR", "AAP.Edition",
    "Projet.Coordinateur.Nom", "Projet.Coordinateur.Prenom",
)  # fmt: skip


@pytest.mark.parametrize("delimiter", [";", ","])
async def test_projects_of_anr_are_read_in_one_language(delimiter: str, tmp_path: Path) -> None:
    row = ("ANR-26-CE01-0001", "FENS", "Remettre en eau les marais pour les oiseaux", TITLE,
           "Les marais drainés perdent leurs oiseaux en dix ans, et personne ne sait lesquels reviennent ensuite.",
           f"{PROBLEM} {METHOD}", "250000.0", "2026", "ROE", "Jane")  # fmt: skip
    ideas, rejected = await read(tmp_path, "anr.csv", render_table(ANR, row, delimiter=delimiter))
    assert not rejected
    check(ideas[0], people=("ROE", "Jane"))
    assert "marais" not in ideas[0].text
    assert ideas[0].reading is not None
    assert any("another language" in item.reason for item in ideas[0].reading.unread_parts)


async def test_partners_of_anr_are_refused_by_name(tmp_path: Path) -> None:
    rows = (
        (
            "Projet.Code_Decision_ANR",
            "Projet.Partenaire.Nom_organisme",
            "Projet.Partenaire.Responsable_scientifique.Nom",
        ),
        ("ANR-26-CE01-0001", "Institut des marais", "ROE"),
    )
    ideas, rejected = await read(tmp_path, "anr.csv", render_table(*rows, delimiter=";"))
    assert not ideas
    assert "ANR" in rejected[0].message
    assert "Projet.Resume" in rejected[0].message


def make_grant(**project: Any) -> dict[str, Any]:
    people = [{"given": "Jane", "family": "Roe", "affiliation": [{"name": "University of Fens", "country": "GB"}]}]
    return {
        "DOI": "10.1000/grant.1", "type": "grant", "award": "12345", "publisher": "Fen Trust", "prefix": "10.1000",
        "award-start": {"date-parts": [[2026, 1, 1]]}, "URL": "https://doi.org/10.1000/grant.1", "member": "77",
        "project": [{"project-title": [{"title": TITLE, "language": "en"}], "lead-investigator": people,
                     "investigator": [{"given": "Tom", "family": "Poe"}],
                     "funding": [{"type": "grant", "scheme": "Seed grants for the study of wet places and of birds",
                                  "funder": {"name": "Fen Trust"}}], **project}],
    }  # fmt: skip


DESCRIPTION = {"project-description": [{"description": f"<p>{PROBLEM}</p><p>{METHOD}</p>", "language": "en"}]}


@pytest.mark.parametrize("form", ["list", "single", "items", "lines"])
async def test_grants_of_crossref_are_read(form: str, tmp_path: Path) -> None:
    item = make_grant(**DESCRIPTION)
    answer = {"status": "ok", "message-type": "work-list", "message": {"total-results": 1, "items": [item]}}
    content = {
        "list": answer,
        "single": {"status": "ok", "message-type": "work", "message": item},
        "items": {"items": [item]},
        "lines": f"{json.dumps(item)}\n{json.dumps(item)}\n",
    }[form]
    ideas, rejected = await read(tmp_path, "grants.jsonl" if form == "lines" else "grants.json", content)
    assert not rejected
    check(ideas[0], people=("Roe", "Poe"))
    assert "University of Fens" not in ideas[0].text
    assert "Seed grants" not in ideas[0].text


async def test_grant_of_crossref_without_description_is_refused_by_name(tmp_path: Path) -> None:
    ideas, rejected = await read(tmp_path, "grants.json", {"message": {"items": [make_grant()]}})
    assert not ideas
    assert "Crossref" in rejected[0].message
    assert "project-description" in rejected[0].message


def make_item(**fields: Any) -> dict[str, Any]:
    return {
        "itemType": "manuscript", "title": TITLE, "creators": [
            {"creatorType": "author", "firstName": "Jane", "lastName": "Roe"},
            {"creatorType": "author", "name": "Fen Group"}],
        "tags": [{"tag": "fens and their birds in the north of the country"}], "collections": ["ABCD"], "relations": {},
        "libraryCatalog": "Fen Library of the North and of all its islands", "accessDate": "2026-05-01", **fields,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["plain", "api", "items", "betterbibtex"])
async def test_items_of_zotero_are_read_without_their_creators(form: str, tmp_path: Path) -> None:
    fields = make_item(abstractNote=f"{PROBLEM} {METHOD}")
    content = {
        "plain": fields,
        "api": [
            {
                "key": "AB12",
                "version": 3,
                "library": {"type": "user", "name": "jroe"},
                "data": {"key": "AB12", **fields},
            }
        ],
        "items": [fields, fields],
        "betterbibtex": {"config": {"id": "x"}, "version": {"zotero": "7"}, "items": [fields]},
    }[form]
    ideas, rejected = await read(tmp_path, "zotero.json", content)
    assert not rejected
    check(ideas[0], people=("Roe", "Fen Group"))
    assert "Fen Library" not in ideas[0].text
    assert "AB12" not in ideas[0].text


async def test_items_of_zotero_without_abstracts_are_refused_by_name(tmp_path: Path) -> None:
    ideas, rejected = await read(tmp_path, "zotero.json", [make_item(), make_item()])
    assert not ideas
    assert "Zotero" in rejected[0].message
    assert "bibliography" in rejected[0].message


async def test_csv_of_zotero_is_read_without_its_authors(tmp_path: Path) -> None:
    rows = (
        ("Key", "Item Type", "Publication Year", "Author", "Title", "Publication Title", "Abstract Note", "Manual Tags",
         "Editor", "Library Catalog"),
        ("AB12", "manuscript", "2026", "Roe, Jane; Poe, Tom", TITLE, "", f"{PROBLEM} {METHOD}", "fens", "Bell, Ada",
         "Fen Library of the North and of all its islands"),
    )  # fmt: skip
    ideas, rejected = await read(tmp_path, "zotero.csv", render_table(*rows))
    assert not rejected
    check(ideas[0], people=("Roe", "Poe", "Bell"))
    assert "Fen Library" not in ideas[0].text


NOTION = f"# {TITLE}\n\n{{}}\n\n## Problem\n\n{PROBLEM}\n\n## Method\n\n{METHOD}\n"


@pytest.mark.parametrize(
    "lines",
    [
        "Owner: Jane Roe\nStatus: In progress\nTags: fens, birds\nCreated: May 1, 2026 3:00 PM",
        "Status: Draft\nAssign: Jane Roe\nDue date: May 1, 2026",
        "Created by: Jane Roe\nLast edited time: May 1, 2026 3:00 PM\nPriority: High\nURL: https://fens.example",
        "Person: Jane Roe, Tom Poe\nStage: Idea\nDone: No",
    ],
)
async def test_properties_of_a_notion_page_are_not_text(lines: str, tmp_path: Path) -> None:
    ideas, rejected = await read(tmp_path, "page.md", NOTION.format(lines))
    assert not rejected
    check(ideas[0])
    assert [section.title for section in ideas[0].sections] == ["Problem", "Method"]
    for words in ("Status", "In progress", "Tags", "Priority", "Due date", "Stage"):
        assert words not in ideas[0].text


async def test_lines_with_colons_that_are_not_properties_are_kept_in_the_text(tmp_path: Path) -> None:
    lines = "Aim: to bring back rare birds\nHypothesis: wet fens have more birds than dry ones"
    ideas, _ = await read(tmp_path, "page.md", NOTION.format(lines))
    assert "rare birds" in ideas[0].text
    assert "Hypothesis" in ideas[0].text or any(section.title == "Hypothesis" for section in ideas[0].sections)


async def test_database_of_notion_is_read(tmp_path: Path) -> None:
    rows = (
        ("Name", "Owner", "Status", "Tags", "Created time", "Problem", "Plan of the work"),
        (TITLE, "Jane Roe", "In progress", "fens, birds", "May 1, 2026 3:00 PM", PROBLEM, METHOD),
    )
    ideas, rejected = await read(tmp_path, "notion.csv", render_table(*rows))
    assert not rejected
    check(ideas[0])
    assert "In progress" not in ideas[0].text


async def test_database_of_notion_without_text_is_refused_by_name(tmp_path: Path) -> None:
    rows = (("Name", "Owner", "Status", "Tags"), (TITLE, "Jane Roe", "In progress", "fens, birds"))
    ideas, rejected = await read(tmp_path, "notion.csv", render_table(*rows))
    assert not ideas
    assert "Notion" in rejected[0].message
    assert "Markdown" in rejected[0].message


async def test_properties_of_notion_html_page_are_separate_from_the_text(tmp_path: Path) -> None:
    page = (
        f'<html><head><title>{TITLE}</title></head><body><article class="page"><header><h1 class="page-title">{TITLE}'
        '</h1><table class="properties"><tbody><tr class="property-row property-row-person"><th>Owner</th><td><span '
        'class="user">Jane Roe</span></td></tr><tr class="property-row"><th>Status</th><td>In progress</td></tr>'
        f"</tbody></table></header><div><h2>Problem</h2><p>{PROBLEM}</p><h2>Method</h2><p>{METHOD}</p></div>"
        "</article></body></html>"
    )
    ideas, rejected = await read(tmp_path, "page.html", page)
    assert not rejected
    check(ideas[0])
    assert "In progress" not in ideas[0].text
