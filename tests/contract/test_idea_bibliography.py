"""The references of an idea's PDF, told apart by a simulated GROBID server, or read from its text."""

import pytest

from assayer.own_references.entries import read_references
from simulator.outside.library import Library
from simulator.outside.pdfs import build_paper_pdf
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from workers.documents.document_ideas import read_pdf_idea
from workers.full_texts import GrobidSettings
from workers.full_texts.bibliography import open_bibliography

LIBRARY = Library(SAMPLE)
PAPER = max(LIBRARY.entries, key=lambda entry: len(LIBRARY.list_references(entry)))
CITED = LIBRARY.list_references(PAPER)


@pytest.mark.parametrize("served", [True, False])
async def test_pdf_references_match_its_printed_bibliography(world: OutsideWorld, served: bool) -> None:
    urls = (world.url("grobid-1"),) if served else ()
    async with open_bibliography(GrobidSettings(urls=urls)) as bibliography:
        idea = await read_pdf_idea(build_paper_pdf(PAPER, CITED), "idea.pdf", bibliography=bibliography)
    references = read_references(idea)
    assert idea.references_reader == ("grobid" if served else "text")
    assert len(references.entries) == len(CITED)
    if served:
        assert [work.title for work in references.entries] == [entry.record.title for entry in CITED]


async def test_unreachable_server_falls_back_to_references_from_text() -> None:
    settings = GrobidSettings(urls=("http://127.0.0.1:9",), outage_seconds=0.1, alive_seconds=0.5)
    async with open_bibliography(settings) as bibliography:
        idea = await read_pdf_idea(build_paper_pdf(PAPER, CITED), "idea.pdf", bibliography=bibliography)
    assert idea.references_reader == "text"
    assert len(read_references(idea).entries) == len(CITED)
