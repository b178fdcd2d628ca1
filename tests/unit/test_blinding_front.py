"""Names in the front matter of real kinds of documents, and the note that names may remain."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import idea_of_document, parse_idea
from assayer.ideas.records import idea_of_record
from assayer.models import Document, FrontMatterField, Idea, Section
from assayer.reports.wording import format_masked_counts

BODY = (
    "Language models state things that are not so, and readers cannot tell. We propose to quote first and to abstain "
    "where nothing can be quoted. We will measure how often a claim is borne out by what it cites, on two data sets."
)
TITLE = "Quote, then abstain"
PEOPLE = ("Zorvath", "Quillen", "Tamsindo")

PDF_FRONTS = {
    "marks": "Ilka Zorvath1,2, Bo-Min Quillen2* and Oren Tamsindo3 1Department of Physics, University of Ost 2 Lab",
    "memberships": "Ilka Zorvath, Member, IEEE, Bo-Min Quillen, and Oren Tamsindo, Fellow, IEEE",
    "run together": "Anna Zorvath† Peter B. Quillen‡ Maria Tamsindo§ 16 November 2020",
    "nothing between": "Anna Zorvath Peter Quillen Maria Tamsindo, Boston Institute of Arts",
    "byline": "By Bo-Min Quillen and Ilka Zorvath∗ and Oren Tamsindo First Draft: June 4, 2018",
    "degrees": "Ilka Zorvath PhD1,✉, Bo-Min Quillen BSc2, and Oren Tamsindo MD, PhD3",
    "icons": "Submitted to a Journal, October 2023 1 Ilka Zorvath ID , Bo-Min Quillen ID , and Oren Tamsindo ID",
    "carets": "Ilka Zorvath^a, c*^; Bo-Min Quillen^b^; Oren Tamsindo^a^",
    "letters": "Ilka Zorvatha , Bo-Min Quillenb , Oren Tamsindoa,c a Department of Physics, University of Ost",
    "mark before and": "Ilka Zorvath1, Bo-Min Quillen2and Oren Tamsindo3 1Department of Physics, University of Ost",
    "et al.": "Ilka Zorvath, Prof. Bo-Min Quillen, Oren Tamsindo, et al.",
}


@pytest.mark.parametrize("front", PDF_FRONTS.values(), ids=PDF_FRONTS.keys())
@pytest.mark.parametrize("abstract", ["\n\n## Abstract\n\n", " Abstract—"], ids=["heading", "on the same line"])
def test_names_before_the_abstract_of_a_pdf_are_masked_everywhere(front: str, abstract: str) -> None:
    masked = blind_idea(
        make_idea(f"## Front matter\n\n{front}{abstract}{BODY} Zorvath et al. (2019) and Tamsindo agree.")
    )
    assert [name for name in PEOPLE if name in masked.text] == []
    assert BODY in masked.text


def test_names_below_a_heading_before_the_abstract_are_masked() -> None:
    front = "## METHODOLOGY\n\nIlka Zorvath1*, Bo-Min Quillen2 , Oren Tamsindo3 *Correspondence: ilka@ost.example"
    text = f"## Front matter\n\nZorvath et al.\n\n{front}\n\nAbstract\n{BODY} Funding: Quillen and Tamsindo were paid."
    assert [name for name in PEOPLE if name in blind_idea(make_idea(text)).text] == []


def test_names_that_end_in_letters_of_possible_footnotes_are_masked_as_printed() -> None:
    front = "Ilka Mirkova1, Bo-Min Garlud2 and Oren Tamsieb3 1Department of Physics, University of Ost"
    text = f"## Front matter\n\n{front}\n\n## Abstract\n\n{BODY} Garlud and Tamsieb agree. Mirkova does not."
    masked = blind_idea(make_idea(text)).text
    assert [name for name in ("Mirkova", "Garlud", "Tamsieb") if name in masked] == []


SENTENCES = {
    "ORCID iDs": "Ilka Zorvath https://orcid.org/0000-0002-1825-0097 Bo-Min Quillen 0000-0002-1825-0098 · quillen",
    "e-mail": "Email address: zorvath@example.org (Ilka Zorvath)",
    "tasks": "Contributions. Ilka Zorvath: Conceptualization, Software; Bo-Min Quillen: Writing - review & editing",
    "correspondence": "Correspondence concerning this article should be addressed to Ilka Zorvath, East Road 4.",
    "biography": "Ilka Zorvath received the M.Sc. degree from a school. Bo-Min Quillen has been a Senior Lecturer.",
    "labels": "Supervisor: Ilka Zorvath Co-supervisors: Bo-Min Quillen, Oren Tamsindo",
    "telephone": "Name- Ilka Zorvath Phone : +91 78767670",
    "thanks": "We thank our colleagues. By Ilka Weber\n\nProf. Ilka Zorvath is here. Zorvath thanks a fund.",
    "byline between marks": "— By Ilka Zorvath —\n\n~ By O. Tamsindo ~",
    "accents apart": "Correspondence should be addressed to Da\u0308niel Zorvath, East Road 4.",
}


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES.keys())
def test_people_next_to_marks_and_labels_are_masked(sentence: str) -> None:
    masked = blind_idea(make_idea(f"## Methods\n\n{BODY}\n\n{sentence}\n\n{BODY}"))
    assert [name for name in PEOPLE if name in masked.text] == []


@pytest.mark.parametrize("line", ["Ilka Zorvath", "Ilka de’ Bardi Zorvath∗ 6/14/2020 (Updated 9/3/2020)"])
def test_lone_name_under_the_title_is_masked_and_two_words_of_the_text_are_not(line: str) -> None:
    masked = blind_idea(make_idea(f"# {TITLE}\n\n{line}\n\n## Abstract\n\n{BODY}"))
    assert "Zorvath" not in masked.text
    blinded_idea = blind_idea(make_idea(f"# {TITLE}\n\nLanguage Models\n\n## Abstract\n\n{BODY}"))
    assert "Language Models" in blinded_idea.text


def test_name_in_an_address_is_not_taken_for_a_word() -> None:
    masked = blind_idea(
        make_idea(f"## Front matter\n\nIlka Zorvath1*\n1Lab, zorvath@example.org\n\n## Abstract\n\n{BODY}")
    )
    assert "Zorvath" not in masked.text


def test_authors_above_the_text_are_masked_in_it() -> None:
    text = f"## Methods\n\n{BODY} The data were collected by Ilka Zorvath. See Ilka-Zorvath/tools."
    front = "---\ntitle: Quote\nauthor:\n  - Ilka Zorvath:\n      institute: X\n  - name: Oren Tamsindo\n---\n"
    masked = blind_idea(parse_idea(front + text, "idea.md"))
    document = Document(
        title=TITLE,
        front_matter=(FrontMatterField(name="author", value="Ilka Zorvath1, and Bo-Min Quillen2"),),
        sections=(Section(title="Methods", text=text.partition("\n\n")[2]),),
    )
    for item in (masked, blind_idea(idea_of_document(document, "idea.tex"))):
        assert "Zorvath" not in item.text
        assert item.people_fields == ()


@pytest.mark.parametrize(
    ("text", "may_remain"),
    [
        pytest.param(BODY, False, id="no name"),
        pytest.param(f"{BODY} The score is that of Qwfp Zxcvbn.", True, id="no name recognised"),
        pytest.param(f"{BODY} ساعدتنا سارة الحربي.", True, id="a script without capitals"),
        pytest.param(f"By Anna Zorvath\n\n{BODY}", False, id="all masked"),
        pytest.param(f"By Anna Zorvath\n\n{BODY} The days of Maria Quillen are over.", True, id="another name"),
        pytest.param(f"By Anna Zorvath\n\n{BODY} As Maria Quillen (2019) says.", False, id="a cited name"),
    ],
)
def test_report_says_where_names_may_remain(text: str, may_remain: bool) -> None:
    record = blind_idea(make_idea(text)).blinding
    assert record is not None
    assert record.names_may_remain is may_remain
    assert format_masked_counts(record).endswith("names may remain") is may_remain


def make_idea(text: str) -> Idea:
    return parse_idea(text, "idea.md", TITLE)


@pytest.mark.parametrize("field", ["Owner", "Assignee", "Created by", "Submitted by", "PI", "Mentor"])
def test_people_in_columns_of_a_table_are_masked_in_its_texts(field: str) -> None:
    idea = idea_of_record(
        {"Title": TITLE, field: "Ilka Zorvath", "Abstract": f"{BODY} Zorvath will count."}, "ideas.csv:2"
    )
    assert "Zorvath" not in blind_idea(idea).text
