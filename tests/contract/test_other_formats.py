"""Articles in JATS, Jupyter notebooks, amsrefs, encodings of seven bits, and Word files with faults in a header."""

import json
from pathlib import Path

import pytest

from assayer.models import Idea
from tests.contract.office_files import word
from workers.documents.document_ideas import read_document_idea
from workers.documents.idea_reader import read_ideas

BODY = (
    "We ask how lakes exchange water with the ground and what follows for people who depend on it. We drill wells and "
    "log pressure for three years."
)
JATS = f"""<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "JATS.dtd">
<article xmlns:m="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<title-group><article-title>Water of <italic>lakes</italic></article-title></title-group><contrib-group><contrib>
<name><surname>Okonedo</surname><given-names>Ify</given-names></name></contrib></contrib-group>
<abstract><p>{BODY}</p></abstract></article-meta></front><body><sec><title>Plan</title><p>First wells, then
<inline-formula><m:math><m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup></m:math></inline-formula>.</p>
<table-wrap><table><tr><td>clay</td><td>4 m</td></tr></table></table-wrap></sec></body><back><ref-list>
<ref><element-citation><person-group person-group-type="author"><name><surname>Bell</surname>
<given-names>Bo</given-names></name></person-group>
<article-title>Wells in clay</article-title><source>J Wells</source><year>2019</year>
<pub-id pub-id-type="doi">10.5555/WELL.1</pub-id></element-citation></ref>
<ref><mixed-citation>Ash D. Rain on clay and sand. J Rain. 2001;3:4.</mixed-citation></ref></ref-list></back>
</article>"""
AMSREFS = rf"""\documentclass{{amsart}}\usepackage{{amsrefs}}\title{{Water}}\begin{{document}}\section{{Plan}}
{BODY} See \cite{{bell}}.
\begin{{bibdiv}}\begin{{biblist}}
\bib{{bell}}{{article}}{{author={{Bell, Bo}}, author={{Ash, Di}}, title={{Wells in clay}}, journal={{J. Wells}},
date={{2019}}}}
\end{{biblist}}\end{{bibdiv}}\end{{document}}"""


async def _read(folder: Path, name: str, content: str | bytes) -> Idea:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    read = await read_ideas([folder / name])
    assert read.rejected == []
    return read.ideas[0]


async def test_jats_article_is_read_with_formulas_tables_authors_and_works(tmp_path: Path) -> None:
    idea = await _read(tmp_path, "article.xml", JATS)
    assert (idea.title, idea.people_fields) == ("Water of lakes", ("Ify Okonedo",))
    assert [section.title for section in idea.sections] == ["Abstract", "Plan"]
    assert BODY in idea.text
    assert "then x^2." in idea.text
    assert "clay | 4 m" in idea.text
    assert [(work.title, work.authors, work.year, work.doi) for work in idea.references] == [
        ("Wells in clay", ("Bo Bell",), 2019, "10.5555/well.1"),
        ("Rain on clay and sand", ("Ash D",), 2001, ""),
    ]


@pytest.mark.parametrize(
    ("xml", "says"),
    [
        ("<records><record/></records>", "is XML, but not an article in JATS"),
        ('<!DOCTYPE article [<!ENTITY a "b">]><article><body><p>&a;</p></body></article>', "declares XML entities"),
        ("<article><body><p>Cut off", "is damaged or incomplete"),
    ],
)
async def test_other_xml_is_refused_with_the_reason(tmp_path: Path, xml: str, says: str) -> None:
    (tmp_path / "a.xml").write_text(xml)
    assert says in (await read_ideas([tmp_path / "a.xml"])).rejected[0].message


async def test_text_cells_of_a_notebook_are_read_and_others_reported(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Water\n", "\n", BODY]},
        {"cell_type": "code", "source": "depth = 3", "outputs": []},
        {"cell_type": "markdown", "source": "## References\n\n1. Bell B. Wells in clay. J Wells. 2019."},
    ]
    idea = await _read(tmp_path, "plan.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    assert (idea.title, BODY in idea.text, len(idea.references)) == ("Water", True, 1)
    assert "depth" not in idea.text
    assert idea.reading is not None
    assert [item.part for item in idea.reading.unread_parts] == ["1 cell with code or output"]


async def test_old_notebook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"worksheets": []}')
    assert "not a Jupyter notebook of version 4" in (await read_ideas([tmp_path / "a.ipynb"])).rejected[0].message


async def test_list_of_amsrefs_is_read_and_is_no_text(tmp_path: Path) -> None:
    idea = await _read(tmp_path, "paper.tex", AMSREFS)
    assert [(work.title, work.authors, work.year) for work in idea.references] == [
        ("Wells in clay", ("Bo Bell", "Di Ash"), 2019)
    ]
    assert "biblist" not in idea.text


CHINESE = "水的研究\n\n" + "我们研究湖泊与地下水之间的交换，以及对依赖它的人们的影响，并记录三年的压力。" * 2
GERMAN = "Über Seen\n\n" + "Wir messen, wie Seen Wasser mit dem Grund tauschen, und was für Strömungen entstehen. " * 3


@pytest.mark.parametrize(("text", "encoding"), [(CHINESE, "hz"), (GERMAN, "utf-7")])
async def test_encodings_of_seven_bits_are_recognised(tmp_path: Path, text: str, encoding: str) -> None:
    assert (await _read(tmp_path, "a.txt", text.encode(encoding))).text == text.strip()


async def test_formulas_that_look_like_encodings_of_seven_bits_stay(tmp_path: Path) -> None:
    text = f"Sums of groups\n\n{BODY} We add A+BCD-E and +ABC-, then +ABCD- and f+AHIJ-k."
    assert (await _read(tmp_path, "a.txt", text)).text == text


def _build_paragraphs(*texts: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return "".join(f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)


async def test_word_file_with_a_faulty_header_is_read() -> None:
    head = '<w:hdr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:p>R & D</w:p></w:hdr>'
    idea = await read_document_idea(word(_build_paragraphs("Water", BODY), parts={"word/header1.xml": head}), "a.docx")
    assert BODY in idea.text


async def test_entries_in_words_bibliography_style_are_a_list_without_a_heading() -> None:
    entries = (
        "Okonedo, Ify, and Bo Bell. 2019. “Wells in Clay.” Journal of Wells 3 (1): 4–9.",
        "National Agency for Rain. n.d. “Rain.” Accessed April 25, 2021. https://rain.example/index.html.",
        "Ash, Di. Under review. “Sand and Clay.” Journal of Sand.",
    )
    styles = '<w:style w:type="paragraph" w:styleId="Bib"><w:name w:val="Bibliography"/></w:style>'
    body = _build_paragraphs("Water", BODY) + _build_paragraphs(*entries, style="Bib")
    idea = await read_document_idea(word(body, styles), "a.docx")
    assert [work.raw for work in idea.references] == list(entries)
    assert "Rain" not in idea.text
