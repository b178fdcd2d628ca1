"""Files as people bring them, read through the processes that parse them: TeX, HTML, RTF, tables, records and Word
files without styles."""

import io
import json
import zipfile
from pathlib import Path

import docx
import pytest
from docx.enum.text import WD_BREAK

from assayer.models import Idea
from tests.contract.office_files import word
from workers.documents.document_ideas import detect_kind, read_document_idea
from workers.documents.idea_reader import are_submitted_together, read_ideas

WORDS = (
    "Grant offices read thousands of plans each year and cannot check by hand whether the works that a plan rests on "
    "exist and say what is claimed of them."
)
TEX = (
    "\\documentclass{article}\\title{Scoring plans}\\begin{document}% private\n\\begin{abstract}"
    f"{WORDS}\\end{{abstract}}\\input{{sections/method}}\\bibliography{{refs}}\\end{{document}}"
)
METHOD = f"\\section{{Method}}{WORDS} \\cite{{lee}}"
BIB = "@article{lee, author={Lee, Ann}, title={A study of plans}, year=2020, doi={10.1000/plans}}"


def write_paper(folder: Path) -> Path:
    (folder / "sections").mkdir(parents=True)
    (folder / "main.tex").write_text(TEX)
    (folder / "sections" / "method.tex").write_text(METHOD)
    (folder / "refs.bib").write_text(BIB)
    return folder


def zip_folder(folder: Path) -> Path:
    target = folder.with_suffix(".zip")
    with zipfile.ZipFile(target, "w") as archive:
        for file in folder.rglob("*.*"):
            archive.write(file, file.relative_to(folder.parent))
    return target


async def read_only_idea(path: Path) -> Idea:
    ideas, rejected = await read_ideas([path])
    assert not rejected
    (idea,) = ideas
    return idea


def list_titles(idea: Idea) -> list[str]:
    return [section.title for section in idea.sections]


def list_unread_parts(idea: Idea) -> list[str]:
    assert idea.reading is not None
    return [item.part for item in idea.reading.unread_parts]


async def test_tex_paper_is_read_from_folder_file_or_archive(tmp_path: Path) -> None:
    folder = write_paper(tmp_path / "paper")
    for path in (folder, folder / "main.tex", zip_folder(folder)):
        idea = await read_only_idea(path)
        assert (idea.title, list_titles(idea)) == ("Scoring plans", ["Abstract", "Method"])
        assert "private" not in idea.text
        assert [(work.title, work.doi, work.number) for work in idea.references] == [
            ("A study of plans", "10.1000/plans", 1)
        ]
        assert idea.references_reader == "bibtex"
        assert "A study of plans" not in idea.text


async def test_tex_in_a_text_file_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text(TEX.replace("\\input{sections/method}", METHOD))
    assert list_titles(await read_only_idea(tmp_path / "plan.txt")) == ["Abstract", "Method"]


async def test_tex_folder_yields_document_and_other_ideas_without_supporting_files(tmp_path: Path) -> None:
    folder = write_paper(tmp_path / "paper")
    (folder / "README.md").write_text(f"# How to build\n\n{WORDS}")
    (folder / "other.md").write_text(f"# Another plan\n\n{WORDS}")
    (folder / "old.tex").write_text(f"\\section{{Old}} {WORDS}")
    ideas, rejected = await read_ideas([folder])
    assert not rejected
    assert [idea.title for idea in ideas] == ["Scoring plans", "Another plan"]
    assert list_unread_parts(ideas[0]) == ["the file README.md", "the file old.tex"]


async def test_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = write_paper(tmp_path / "paper")
    (tmp_path / "secret.tex").write_text("Secret words")
    (folder / "sections" / "method.tex").unlink()
    (folder / "sections" / "method.tex").symlink_to(tmp_path / "secret.tex")
    idea = await read_only_idea(folder / "main.tex")
    assert "Secret" not in idea.text
    assert "the file sections/method" in list_unread_parts(idea)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.html", f"<h1>Scoring plans</h1><h2>Problem</h2><p>{WORDS}</p><h2>Method</h2><p>{WORDS}</p>".encode()),
        (
            "plan.rtf",
            rb"{\rtf1{\stylesheet{\s1 heading 1;}{\s2 Title;}}\s2 Scoring plans\par\pard\s1 Problem\par\pard "
            + WORDS.encode() + rb"\par\pard\s1 Method\par\pard " + WORDS.encode() + rb"\par}",
        ),
    ],
)  # fmt: skip
async def test_html_and_rtf_files_are_read_as_ideas(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    idea = await read_only_idea(tmp_path / name)
    assert (idea.title, list_titles(idea)) == ("Scoring plans", ["Problem", "Method"])


@pytest.mark.parametrize("name", ["main.tex", "plan.html", "plan.rtf"])
async def test_tex_html_and_rtf_job_documents_are_read(name: str) -> None:
    documents = {
        "main.tex": f"\\documentclass{{article}}\\begin{{document}}{WORDS}\\end{{document}}",
        "plan.html": f"<!doctype html><title>x</title><p>{WORDS}",
        "plan.rtf": f"{{\\rtf1 {WORDS}}}",
    }
    assert WORDS in (await read_document_idea(documents[name].encode(), name)).text


def test_document_type_is_detected_by_content() -> None:
    kinds = [detect_kind(item) for item in (b"%PDF-1.7", word("<w:p/>"), b"# Markdown", b"\0\1")]
    assert kinds == ["pdf", "office", None, None]


async def test_html_file_named_pdf_is_read_as_html(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_text(f"<!doctype html><h1>Scoring plans</h1><p>{WORDS}")
    idea = await read_only_idea(tmp_path / "plan.pdf")
    assert WORDS in idea.text
    assert list_unread_parts(idea) == ["the suffix .pdf of the name"]


TABLES = {
    "sep.csv": f"\ufeffsep=;\nid;title;abstract\nA;Scoring plans ä;{WORDS}\n",
    "semicolon.csv": f"id;title;abstract\nA;Scoring plans ä;{WORDS}\n",
    "tab.tsv": f"id\ttitle\tabstract\nA\tScoring plans ä\t{WORDS}\n",
    "above.csv": f"Export of 2026\n\nid,title,abstract\nA,Scoring plans ä,{WORDS}\n",
    "cp1252.csv": f"id,title,abstract\nA,Scoring plans ä,{WORDS}\n",
    "answer.json": json.dumps({"results": [{"project_title": "Scoring plans ä", "abstract_text": WORDS}]}),
    "two.ndjson": json.dumps({"title": "Scoring plans ä", "abstract": WORDS}) + "\n",
}


@pytest.mark.parametrize("name", TABLES)
async def test_tables_and_records_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(TABLES[name].encode("cp1252" if name.startswith("cp1252") else "utf-8"))
    idea = await read_only_idea(tmp_path / name)
    assert (idea.title, list_titles(idea)) == ("Scoring plans ä", ["Abstract"])
    assert ("the line 'Export of 2026'" in list_unread_parts(idea)) is (name == "above.csv")


async def test_broken_csv_row_does_not_affect_other_rows(tmp_path: Path) -> None:
    path = tmp_path / "call.csv"
    path.write_text(f'title,text\nA,"{WORDS}\nB,{WORDS}\n')
    read = await read_ideas([path])
    assert [item.source for item in read.rejected] == [f"{path}:1"]
    assert [idea.title for idea in read.ideas] == ["B"]
    assert are_submitted_together([path], read)


async def test_json_file_of_json_lines_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("".join(json.dumps({"title": name, "text": WORDS}) + "\n" for name in "AB"))
    ideas, _ = await read_ideas([tmp_path / "a.json"])
    assert [idea.title for idea in ideas] == ["A", "B"]


def build_document(*paragraphs: tuple[str, bool]) -> bytes:
    word_document = docx.Document()
    for text, bold in paragraphs:
        run = word_document.add_paragraph().add_run()
        for number, line in enumerate(text.split("\n")):
            if number:
                run.add_break(WD_BREAK.LINE)
            run.add_text(line)
        run.bold = bold
    file = io.BytesIO()
    word_document.save(file)
    return file.getvalue()


async def test_bold_lines_of_a_word_file_without_styles_are_its_headings() -> None:
    idea = await read_document_idea(
        build_document(
            ("Scoring plans", True), ("I. INTRODUCTION", True), (WORDS, False), ("Our own way", True), (WORDS, False),
            ("REFERENCES", True), ("[1] A. Lee, “A study of plans,” J. Inv., 2020.", False),
            ("[2] B. Roe, “Another study,” J. Inv., 2021.", False),
        ),
        "plan.docx",
    )  # fmt: skip
    assert idea.title == "Scoring plans"
    assert list_titles(idea) == ["INTRODUCTION"]
    assert "Our own way" in idea.text
    assert [work.title for work in idea.references] == ["A study of plans", "Another study"]


async def test_soft_line_breaks_in_word_files_separate_lines() -> None:
    entries = "[1] A. Lee. A study. 2020.\n[2] B. Roe. Two. 2021."
    text = f"Scoring plans\n\nProblem\n{WORDS}\nMethod\n{WORDS}\nReferences\n{entries}"
    idea = await read_document_idea(build_document((text, False)), "plan.docx")
    assert list_titles(idea) == ["Problem", "Method"]
    assert len(idea.references) == 2


async def test_word_formulas_and_footnotes_keep_their_positions() -> None:
    formula = (
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:f><m:num><m:r><m:t>a+b</m:t>'
        "</m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den></m:f></m:oMath>"
    )
    body = (
        f'<w:p><w:r><w:t xml:space="preserve">{WORDS} The score is </w:t></w:r>{formula}<w:r>'
        '<w:t xml:space="preserve"> here</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        "<w:p><w:r><w:t>Then more.</w:t></w:r></w:p>"
    )
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>'
    packed = word(body, parts={"word/footnotes.xml": f"<w:footnotes {space}>{note}</w:footnotes>"})
    idea = await read_document_idea(packed, "plan.docx")
    assert idea.text == f"{WORDS} The score is (a+b)/c here[^1]\n\n[^1]: A note.\n\nThen more."
    assert idea.reading is not None
    assert idea.reading.notes == 1


async def test_front_matter_names_title_and_bibliography(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB)
    (tmp_path / "plan.md").write_text(
        f"---\ntitle: Scoring plans\nauthor: [A. Verne]\nbibliography: refs.bib\n---\n\n# Problem\n\n{WORDS} [@lee]\n"
    )
    idea = await read_only_idea(tmp_path / "plan.md")
    assert (idea.title, list_titles(idea)) == ("Scoring plans", ["Problem"])
    assert "Verne" not in idea.text
    assert [work.doi for work in idea.references] == ["10.1000/plans"]


async def test_urls_and_identifiers_of_published_works_are_rejected() -> None:
    _, rejected = await read_ideas(
        [Path("https://arxiv.org/abs/2401.00001"), Path("10.1000/plans"), Path("hep-th/9711299")]
    )
    assert [item.source for item in rejected] == ["https://arxiv.org/abs/2401.00001", "10.1000/plans", "hep-th/9711299"]
    assert all("names a published work" in item.message for item in rejected)
