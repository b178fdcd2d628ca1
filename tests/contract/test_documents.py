import datetime as dt
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from assayer.errors import FullTextError
from tests.contract import pdf_files
from workers.documents import DocumentLimits, PdfLimits
from workers.documents.idea_reader import are_submitted_together, read_ideas
from workers.documents.pdf_reader import extract_pdf

BODY = "We plant young corals on tiles in three bays and measure their growth every second month. "
LONG = BODY * 2
PAPER = Path(__file__).parents[3] / "shared" / "data" / "grobid" / "paper.pdf"

PROPOSAL = pdf_files.pdf(
    [
        ("F2", 18, "Growing Young Corals"),
        ("F2", 18, "on Ceramic Tiles"),
        ("F1", 10, "Ann Example, Invented University"),
        ("F2", 12, "Abstract"),
        ("F1", 10, BODY),
        ("F2", 12, "1 Methods"),
        ("F1", 10, BODY),
        ("F3", 10, "Sites and tiles"),
        ("F1", 10, BODY),
    ],
    [
        ("F2", 12, "2 Results"),
        ("F1", 10, BODY),
        ("F1", 10, "Table 1: growth"),
        ("F2", 12, "References"),
        ("F1", 8, "1. A"),
    ],
)
"""Layout of a page: title over two lines, main headings in bold, one subheading in italics."""


async def read_only_rejection(path: Path, limits: DocumentLimits | None = None) -> str:
    ideas, rejected = await read_ideas([path], limits)
    assert not ideas
    (rejection,) = rejected
    assert rejection.source.startswith(str(path))
    return rejection.message


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"# Größe\n\n{LONG} naïve".encode(), id="utf-8"),
        pytest.param(f"# Größe\n\n{LONG} naïve".encode("utf-8-sig"), id="byte order mark"),
        pytest.param(f"# Größe\n\n{LONG} naïve".encode("utf-16"), id="utf-16"),
        pytest.param(f"# Größe\r\n\r\n{LONG} naïve".encode("cp1252"), id="windows-1252"),
        pytest.param(f"# Größe\n\n{LONG} naïve".encode() + b"\xff", id="one broken byte"),
    ],
)
async def test_text_file_is_decoded_from_common_encodings(tmp_path: Path, content: bytes) -> None:
    (idea,), rejected = await read_ideas([write(tmp_path / "größe.md", content)])
    assert not rejected
    assert idea.title == "Größe"
    assert "naïve" in idea.text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.txt", b"", "is empty"),
        ("blank.md", b" \n\n\t", "is empty"),
        ("short.txt", b"Use a bigger model.", "4 words; that is too short"),
        ("binary.txt", bytes(range(256)) * 10, "is not text: it contains binary data"),
        ("renamed.txt", PROPOSAL, "is a PDF, not text"),
        ("office.txt", b"PK\x03\x04" + bytes(50), "is a ZIP or Office file"),
        ("long.txt", b"coral " * 70_000, "420,000 characters; an idea can have at most 400,000"),
        (
            "plan.pages",
            b"PK\x03\x04",
            "has an unsupported format. Supported formats: .txt, .md, .tex, .html",
        ),
        ("empty.json", b"", "not valid JSON"),
        ("broken.json", b'{"text": "corals",\n "title: 3}', "line 2, column 2"),
        ("list.json", b"[]", "contains an empty list"),
        ("number.json", b"3", "is a number, not an idea"),
        ("deep.json", b"[" * 100_000, "nested too deeply"),
        ("blank.jsonl", b"\n\n", "is empty"),
        ("empty.pdf", b"", "is empty"),
        ("page.pdf", b"<!DOCTYPE html><html><body>403</body></html>", "ends in .pdf, but the file is an HTML page. "),
        ("word.pdf", b"PK\x03\x04word/document.xml", "ends in .pdf, but the file is an office document. "),
        ("noise.pdf", os.urandom(2000).replace(b"%", b"x"), "is not a PDF: it does not begin with %PDF-"),
        ("cut.pdf", PROPOSAL[:500], "is damaged or incomplete"),
        ("zero.pdf", pdf_files.build_document([]), "has no pages"),
        ("scan.pdf", pdf_files.build_document([b"<< /Length 3 >>\nstream\nq Q\nendstream"]), "1 page but no text"),
        ("locked.pdf", pdf_files.build_encrypted_pdf(), "is encrypted"),
    ],
)
async def test_unusable_file_is_rejected_with_the_reason(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    assert says in await read_only_rejection(write(tmp_path / name, content))


async def test_oversized_files_are_rejected(tmp_path: Path) -> None:
    limits = DocumentLimits(text_bytes=1000, json_bytes=1000, jsonl_bytes=1000, pdf=PdfLimits(file_bytes=1000))
    for name in ("a.txt", "a.json", "a.jsonl", "a.pdf"):
        message = await read_only_rejection(write(tmp_path / name, b"%PDF-1.7" + b"x" * 1000), limits)
        assert "has more than 0.001 MB" in message


async def test_missing_path_and_pipe_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert "does not exist" in await read_only_rejection(tmp_path / "none.txt")
    assert "is not a file or folder" in await read_only_rejection(tmp_path / "pipe.txt")


async def test_pasted_text_is_rejected_with_path_hint_and_others_kept(tmp_path: Path) -> None:
    short = "We propose to study how young corals grow on ceramic tiles in bays"
    good = write(tmp_path / "good.txt", LONG)
    (idea,), rejected = await read_ideas([Path(LONG * 5), good, Path(short)])
    assert idea.source == str(good)
    for item, trouble in zip(rejected, ("is too long for a path", "does not exist"), strict=True):
        assert item.message.startswith(item.source)
        assert f"{trouble}. A path is expected" in item.message
        assert len(item.source) < 70
    assert "is too long for a path." in await read_only_rejection(tmp_path / ("x" * 300))


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that may be listed but whose files may not be looked at, even by tests that root runs."""
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name) / "idea.txt", LONG)
        Path(name).chmod(0o444)
        if user == 0:
            os.seteuid(65534)
        yield Path(name)
        os.seteuid(user)
        Path(name).chmod(0o755)


async def test_unreadable_folder_and_its_files_are_rejected(closed_folder: Path) -> None:
    assert "cannot be read: Permission denied." in await read_only_rejection(closed_folder)
    assert "cannot be read: Permission denied." in await read_only_rejection(closed_folder / "idea.txt")


async def test_unreadable_file_in_a_folder_does_not_affect_others(closed_folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "closed.txt").symlink_to(closed_folder / "idea.txt")
        good = write(Path(name) / "good.txt", LONG)
        ideas, rejected = await read_ideas([Path(name)])
        assert [idea.source for idea in ideas] == [str(good)]
        assert [item.source for item in rejected] == [f"{name}/closed.txt"]


async def test_folder_yields_its_idea_files_by_name_without_cutoff_file(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "cutoff.txt", ".hidden.txt", "notes.log"):
        write(tmp_path / name, f"{name} plan\n\n{LONG}")
    (tmp_path / "deeper").mkdir()
    ideas, rejected = await read_ideas([tmp_path])
    assert [Path(idea.source).name for idea in ideas] == ["a.txt", "b.md"]
    assert not rejected
    assert "subfolders are not searched" in await read_only_rejection(tmp_path / "deeper")


async def test_input_order_is_kept_and_bad_files_are_rejected_separately(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "2.pdf", PROPOSAL),
        write(tmp_path / "bad.txt", ""),
        write(tmp_path / "1.txt", LONG),
        tmp_path / "none.md",
    ]
    ideas, rejected = await read_ideas(paths)
    assert [idea.source for idea in ideas] == [str(paths[0]), str(paths[2])]
    assert [item.source for item in rejected] == [str(paths[1]), str(paths[3])]


async def test_group_of_ideas_is_recognised_despite_rejected_files(tmp_path: Path) -> None:
    single_path, bad = write(tmp_path / "alone.txt", LONG), write(tmp_path / "bad.pdf", "no PDF at all")
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "idea.txt", LONG)
    row = json.dumps({"title": "A plan", "text": LONG})
    lines, list_path = write(tmp_path / "rows.jsonl", row), write(tmp_path / "list.json", f"[{row}]")
    single = write(tmp_path / "idea.json", row)

    async def is_group(*paths: Path) -> bool:
        return are_submitted_together(paths, await read_ideas(paths))

    assert await is_group(single_path, bad)
    assert [await is_group(item) for item in (folder, lines, list_path)] == [True, True, True]
    assert [await is_group(item) for item in (single_path, single)] == [False, False]
    assert await is_group(single_path, Path(LONG * 5))


async def test_jsonl_lines_are_parsed_and_rejected_independently(tmp_path: Path) -> None:
    rows = [
        json.dumps({"id": "P/1", "text": LONG, "title": "First", "cutoff": "2024-05-01"}),
        "",
        "{broken",
        json.dumps({"title": "Second", "abstract": LONG, "score": 3}),
        json.dumps({"text": LONG, "cutoff": "2024-13-01"}),
        json.dumps({"text": LONG, "cutoff": 2024}),
        json.dumps({"text": LONG, "cutoff": "2031-01-01"}),
        json.dumps({"score": 3, "Rating": 4}),
        json.dumps(LONG),
        json.dumps({"text": "\ud800 " + LONG}),
    ]
    path = write(tmp_path / "ideas.jsonl", "\n".join(rows) + "\n")
    ideas, rejected = await read_ideas([path], latest_cutoff=dt.date(2026, 1, 1))
    assert [(idea.source, idea.title) for idea in ideas[:2]] == [(f"{path}:1 (P_1)", "First"), (f"{path}:4", "Second")]
    assert [idea.source for idea in ideas[2:]] == [f"{path}:9", f"{path}:10"]
    assert ideas[0].cutoff == dt.date(2024, 5, 1)
    assert [section.title for section in ideas[1].sections] == ["Abstract"]
    messages = {item.source.removeprefix(f"{path}:"): item.message for item in rejected}
    assert list(messages) == ["3", "5", "6", "7", "8"]
    assert "ideas.jsonl:3 is not valid JSON" in messages["3"]
    assert "ideas.jsonl:5: the cutoff '2024-13-01' is not a date: month must be in 1..12" in messages["5"]
    assert "the cutoff 2024 is not a date" in messages["6"]
    assert "is in the future" in messages["7"]
    assert "its fields are: 'score', 'Rating'" in messages["8"]


async def test_undecodable_bytes_in_jsonl_file_reject_only_their_line(tmp_path: Path) -> None:
    line = f'{{"text": "Größe und Höhe: {LONG}"}}\n'.encode()
    path = write(tmp_path / "ideas.jsonl", line + line.replace("ö".encode(), b"\xff", 1))
    ideas, (rejected,) = await read_ideas([path])
    assert [idea.source for idea in ideas] == [f"{path}:1"]
    assert rejected.message.startswith(
        f"{path}:2 contains the byte 0xFF after 12 characters, which is invalid in UTF-8"
    )


async def test_json_parts_are_sorted_into_proposal_order(tmp_path: Path) -> None:
    record = {
        "Experiment Design": ["Count the corals", "Weigh the tiles"],
        "method": {"Sites": "Three bays", "Tiles": LONG},
        "problem": LONG,
        "title": "Corals",
    }
    (idea,), _ = await read_ideas([write(tmp_path / "idea.json", json.dumps(record))])
    assert idea.title == "Corals"
    assert [section.title for section in idea.sections] == ["Problem", "Method", "Experiment design"]
    assert "**Sites**: Three bays" in idea.sections[1].text
    assert idea.sections[2].text == "- Count the corals\n- Weigh the tiles"


async def test_json_list_yields_an_idea_per_item(tmp_path: Path) -> None:
    path = write(tmp_path / "ideas.json", json.dumps([{"text": LONG}, None, {"text": f"{LONG} Again."}]))
    ideas, rejected = await read_ideas([path])
    assert [idea.source for idea in ideas] == [f"{path}:1", f"{path}:3"]
    (rejection,) = rejected
    assert rejection.message.startswith(f"{path}:2 is null, not an idea")


async def test_pdf_title_and_sections_are_detected_by_font_size() -> None:
    parsed = await extract_pdf(PROPOSAL)
    assert parsed.title == "Growing Young Corals on Ceramic Tiles"
    assert (parsed.pages, parsed.unreadable_pages) == (2, 0)
    titles = [section.title for section in parsed.sections]
    assert titles == ["Front matter", "Abstract", "Methods", "Results", "References"]
    assert "\nSites and tiles\nWe plant" in parsed.sections[2].text


async def test_pdf_without_larger_font_takes_title_from_metadata() -> None:
    plain = [("F1", 10.0, BODY), ("F1", 10.0, BODY)]
    named_pdf = await extract_pdf(pdf_files.pdf(plain, info=b"/Title (Corals on many tiles)"))
    junk = await extract_pdf(pdf_files.pdf(plain, info=b"/Title (Microsoft Word - draft 3 final.doc)"))
    assert (named_pdf.title, junk.title) == ("Corals on many tiles", "")
    assert [section.title for section in named_pdf.sections] == ["Text"]


async def test_running_heads_and_page_numbers_are_left_out() -> None:
    words = ["corals", "tiles", "bays", "reefs", "months", "divers"]
    pages = [
        [("F1", 9.0, f"Example Journal, page {n}"), *[("F1", 10.0, f"{BODY} Here {word}.")] * 4, ("F1", 9.0, str(n))]
        for n, word in enumerate(words)
    ]
    (section,) = (await extract_pdf(pdf_files.pdf(*pages))).sections
    assert "Example Journal" not in section.text
    assert section.text.count("We plant") == 24


@pytest.mark.skipif(not PAPER.exists(), reason="the data folder beside the clone is missing")
async def test_real_paper_is_split_into_its_sections() -> None:
    parsed = await extract_pdf(PAPER.read_bytes())
    assert parsed.title.startswith("Multi-contact functional electrical stimulation for hand opening:")
    titles = [section.title for section in parsed.sections]
    assert titles[:7] == ["Front matter", "Abstract", "Background", "Methods", "Results", "Discussion", "Conclusions"]
    methods = parsed.sections[3].text
    assert methods.startswith("This section is divided into three main sub-sections.")
    assert "\nExperimental protocol\n" in methods
    assert "statistically significant for values of p < 0.05." in methods


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return pdf_files.build_bomb(300)


@pytest.mark.parametrize(
    ("pdf", "limits", "says"),
    [
        pytest.param("bomb", {"memory_bytes": 200_000_000}, "limit of 200 MB of memory", id="memory"),
        pytest.param("bomb", {"cpu_seconds": 1, "memory_bytes": 4_000_000_000}, "1 s of CPU time", id="cpu"),
        pytest.param(PROPOSAL, {"wall_seconds": 0.005}, "within the limit of 0.005 s", id="wall clock"),
        pytest.param(
            pdf_files.build_endless_page(60_000), {"characters": 50_000}, "more than 50,000 characters", id="characters"
        ),
        pytest.param(PROPOSAL, {"pages": 1}, "more than 1 pages", id="pages"),
    ],
)
async def test_pdf_over_a_limit_is_rejected_and_its_process_ends(
    bomb: bytes, pdf: bytes | str, limits: dict[str, float], says: str
) -> None:
    with pytest.raises(FullTextError, match=says):
        await extract_pdf(bomb if isinstance(pdf, str) else pdf, PdfLimits.model_validate(limits))
    assert not [child for child in psutil.Process().children() if "pdf_parser" in " ".join(child.cmdline())]
