import datetime as dt
import gzip
import json
from pathlib import Path

import pytest

from simulator.outside.fulltexts import write_parts
from simulator.outside.library import Library
from simulator.outside.records import Record, read_records
from simulator.outside.sample import SAMPLE

LIBRARY = Library(SAMPLE)


def test_paper_identifiers_do_not_depend_on_other_papers() -> None:
    small_library = Library(SAMPLE[10:20])
    for entry in small_library.entries:
        same_entry = LIBRARY.by_id[entry.record.id]
        assert (entry.s2, entry.corpus_id, entry.doi, entry.arxiv) == (
            same_entry.s2,
            same_entry.corpus_id,
            same_entry.doi,
            same_entry.arxiv,
        )


def test_identifiers_are_unique_and_well_formed() -> None:
    twins = [SAMPLE[0].model_copy(update={"id": f"copy-{number}"}) for number in range(400)]
    library = Library([*SAMPLE, *twins])
    for names in (library.by_s2, library.by_corpus_id, library.by_openalex):
        assert len(names) == len(library.entries)
    on_arxiv = [entry for entry in library.entries if entry.arxiv]
    assert len({entry.arxiv for entry in on_arxiv}) == len(on_arxiv)
    for entry in on_arxiv:
        assert entry.arxiv_date is not None
        assert entry.arxiv.startswith(f"{entry.arxiv_date:%y%m}.")
        assert entry.date is not None
        assert dt.timedelta(0) <= entry.date - entry.arxiv_date <= dt.timedelta(days=180)


def test_citations_point_to_earlier_papers_and_mirror_references() -> None:
    pairs = {(entry.number, cited.number) for entry in LIBRARY.entries for cited in LIBRARY.list_references(entry)}
    assert len(pairs) > 300
    for citing, cited in pairs:
        earlier, later = LIBRARY.entries[cited].date, LIBRARY.entries[citing].date
        assert earlier is not None
        assert later is not None
        assert earlier < later
    assert pairs == {
        (citing.number, entry.number) for entry in LIBRARY.entries for citing in LIBRARY.list_citations(entry)
    }


def test_every_kind_of_notice_is_in_the_sample() -> None:
    notices = [entry.notice for entry in LIBRARY.entries if entry.notice]
    assert {notice.kind for notice in notices} == {"retracted", "withdrawn", "concern"}


def test_search_ranks_by_shared_words() -> None:
    titles = [entry.record.title for entry in LIBRARY.search("diffusion models for molecule design")]
    assert titles[0] == "Diffusion models for molecule design"
    assert len(titles) == len(set(titles)) > 8
    assert LIBRARY.search("the of and") == []
    assert Library([]).search("anything") == []


def test_full_text_mentions_match_their_offsets() -> None:
    entry = max(LIBRARY.entries, key=lambda item: len(LIBRARY.list_references(item)))
    parts = write_parts(entry, LIBRARY.list_references(entry))
    mentions = [(part, mention) for part in parts for mention in part.mentions]
    assert len(mentions) >= 5
    for part, mention in mentions:
        mentioned_text = part.text[mention.start : mention.end]
        assert mentioned_text[0] + mentioned_text[-1] == "()"
        assert str(mention.cited.record.year) in mentioned_text
    for part in parts:
        assert [part.text[start:end] for start, end in part.sentences] == [
            part.text[start:end].strip() for start, end in part.sentences
        ]


def test_records_are_read_from_plain_and_gzipped_files_skipping_blank_lines(tmp_path: Path) -> None:
    text = "\n\n".join(json.dumps(record.model_dump(mode="json")) for record in SAMPLE[:3])
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert read_records(tmp_path / "a.jsonl") == read_records(tmp_path / "a.jsonl.gz") == list(SAMPLE[:3])


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "title": "T"}\n{"id": 7}\n')
    with pytest.raises(ValueError, match="line 2"):
        read_records(tmp_path / "a.jsonl")


def test_paper_without_dates_has_neither_references_nor_citations() -> None:
    library = Library([*SAMPLE, Record(id="undated", title="Attention without a date")])
    entry = library.by_id["undated"]
    assert (entry.date, entry.arxiv, entry.notice) == (None, "", None)
    assert library.list_references(entry) == library.list_citations(entry) == []
