"""Passages carry the papers that they cite: resolved when they are read, whatever came into the corpus since."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from assayer.models import OPEN, PaperId, Window
from index import BuildOptions, Corpus, Delta, VersionStore, build_corpus, build_shards, read_manifest, update_corpus
from index.records.paper_record import PaperRecord
from index.segments.paper_store import compute_record_digest
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
PROTOCOL = "Walk each transect at noon and count every insect on a flower, as others did [1, 2]. " * 20
MODELS = "Counts are overdispersed, so we fit a negative binomial regression [3]."
LATER = "Lichens on old walls and what they tell of the air"
CITED: list[dict[str, Any]] = [
    {"doi": "https://doi.org/10.1234/BEE.5", "title": "How anything", "at": [[1, 80]]},
    {"title": "How mining bees use bare sand in heathland!", "year": 2017, "at": [[1, 83], [2, 66]]},
    {"title": LATER, "year": 2021, "at": [[2, 66]]},
    {"title": "A work that nobody has a record of", "year": 1999, "at": [[2, 66]]},
    {"id": "bee-40", "at": [[0, 0]]},
]
SECTIONS = [
    {"title": "Empty", "text": " "},
    {"title": "Counting protocol", "text": PROTOCOL},
    {"title": "Statistics", "text": MODELS},
]
CITING = record(40, title="A handbook of walks", sections=SECTIONS, cited_in_text=CITED)
PAPERS = [*RECORDS[:5], record(5, identifiers={"doi": "10.1234/bee.5"}), *RECORDS[6:12], CITING]


async def build(folder: Path, papers: list[dict[str, Any]], papers_per_segment: int = 1_000) -> Corpus:
    source = write_jsonl(folder / "papers.jsonl", papers)
    await build_corpus(
        [source], folder / "corpus", EMBEDDER, options=BuildOptions(papers_per_segment=papers_per_segment)
    )
    return Corpus.open(folder / "corpus", EMBEDDER)


async def search_citations(corpus: Corpus, query: str, window: Window = OPEN) -> set[tuple[PaperId, ...]]:
    """Return the citations of the citing paper's matching passages."""
    (hits,) = await corpus.snippets([query], 40, window)
    return {item.cites for item in hits if item.paper.id == "bee-40" and item.section != "abstract"}


@pytest.mark.parametrize("papers_per_segment", [1_000, 4])
async def test_passages_cite_papers_by_doi_and_by_title_and_year(tmp_path: Path, papers_per_segment: int) -> None:
    corpus = await build(tmp_path, PAPERS, papers_per_segment=papers_per_segment)
    assert get_citations(await search_citations(corpus, "walk each transect at noon")) == {
        (),
        ("bee-05", "bee-06"),
        ("bee-06",),
    }


def get_citations(citations: set[tuple[PaperId, ...]]) -> set[tuple[str, ...]]:
    return {tuple(map(str, item)) for item in citations}


async def test_abstracts_and_unlinked_papers_have_empty_citations(tmp_path: Path) -> None:
    corpus = await build(tmp_path, [*PAPERS, record(41, sections=SECTIONS)])
    (hits,) = await corpus.snippets(["walk each transect at noon"], 40, OPEN)
    assert {item.cites for item in hits if item.paper.id != "bee-40" or item.section == "abstract"} == {()}


async def test_paper_added_later_is_cited_from_then_on(tmp_path: Path) -> None:
    corpus = await build(tmp_path, PAPERS, papers_per_segment=4)
    before = await search_citations(corpus, "negative binomial regression")
    # A preprint of the year before the one that the list of references gives.
    later_paper = PaperRecord.model_validate(record(60, title=LATER, publication_date="2020-11-02"))
    await update_corpus(Delta([later_paper]), tmp_path / "corpus", EMBEDDER)
    after = await search_citations(Corpus.open(tmp_path / "corpus", EMBEDDER), "negative binomial regression")
    assert ("bee-06",) in before
    assert ("bee-06", "bee-60") in after


async def test_removed_paper_is_dropped_from_citations(tmp_path: Path) -> None:
    await build(tmp_path, PAPERS)
    await update_corpus(Delta([], [PaperId("bee-06")]), tmp_path / "corpus", EMBEDDER)
    citations = await search_citations(Corpus.open(tmp_path / "corpus", EMBEDDER), "walk each transect at noon")
    assert get_citations(citations) == {(), ("bee-05",)}


async def test_ambiguous_title_and_year_resolve_to_neither_paper(tmp_path: Path) -> None:
    twin = record(61, title=record(6)["title"], publication_date=record(6)["publication_date"])
    corpus = await build(tmp_path, [*PAPERS, twin])
    assert get_citations(await search_citations(corpus, "walk each transect at noon")) == {(), ("bee-05",)}


async def test_citations_survive_rewriting_of_segments(tmp_path: Path) -> None:
    corpus = await build(tmp_path, PAPERS)
    coming = [PaperRecord.model_validate(record(number, title=f"Moths in town {number}")) for number in range(70, 90)]
    await update_corpus(Delta(coming), tmp_path / "corpus", EMBEDDER)
    again = Corpus.open(tmp_path / "corpus", EMBEDDER)
    assert len(read_manifest(VersionStore(tmp_path / "corpus").find_current_path()).segments) == 1
    assert await search_citations(again, "walk each transect at noon") == await search_citations(
        corpus, "walk each transect at noon"
    )


async def test_text_citations_serve_as_references_without_a_source_list(tmp_path: Path) -> None:
    citing_record = record(43, sections=SECTIONS, cited_in_text=CITED, references=["bee-01"])
    corpus_with_list = await build(tmp_path, [*PAPERS, citing_record])
    await build_shards([tmp_path / "papers.jsonl"], 3, tmp_path / "sharded", EMBEDDER)
    asked_ids = [PaperId("bee-40"), PaperId("bee-43"), PaperId("bee-01")]
    for corpus in (corpus_with_list, Corpus.open(tmp_path / "sharded", EMBEDDER)):
        references = await corpus.references(asked_ids, 9, OPEN)
        assert {item: [paper.id for paper in some] for item, some in references.items()} == {
            "bee-40": ["bee-05", "bee-06", "bee-40"],
            "bee-43": ["bee-01"],
        }
        early = await corpus.references(asked_ids, 9, Window.until(dt.date(2015, 12, 31)))
        assert [paper.id for paper in early[asked_ids[0]]] == ["bee-05", "bee-40"]


async def test_identical_records_produce_identical_segment_files(tmp_path: Path) -> None:
    files = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        await build(tmp_path / name, PAPERS)
        (segment,) = read_manifest(VersionStore(tmp_path / name / "corpus").find_current_path()).segments
        files.append(segment.files)
    assert files[0] == files[1]
    assert {"cited-in-text.arrow", "paper-keys.npy", "passages/cited-keys.npy"} <= {file.path for file in files[0]}


def test_record_digest_without_text_citations_is_unchanged() -> None:
    """Else a release would make every paper of every corpus a changed one."""
    assert compute_record_digest(PaperRecord.model_validate(RECORDS[12])) == 15085148970889678523


def test_citation_positions_follow_kept_sections_and_skip_cleaned_texts() -> None:
    sections = [*SECTIONS, {"title": "Untidy", "text": " Words that begin with a blank."}]
    work = {"doi": "10.1234/x", "at": [[0, 0], [1, 5], [2, 3], [2, 100_000], [3, 4], [9, 0]]}
    read = PaperRecord.model_validate(record(1, sections=sections, cited_in_text=[work]))
    assert [tuple(place) for place in read.cited_in_text[0].at] == [(0, 5), (1, 3)]
    assert PaperRecord.model_validate_json(read.model_dump_json()) == read


@pytest.mark.parametrize("wrong", [[{"at": [[1]]}], [{"year": "soon"}], [{"id": "no [id]"}], "text", [7]])
def test_malformed_text_citations_are_rejected(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="cited_in_text"):
        PaperRecord.model_validate(record(1, cited_in_text=wrong))
