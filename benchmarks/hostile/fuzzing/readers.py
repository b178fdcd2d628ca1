"""All functions that read external text, as functions of one text, for fuzzing and growth tests.

Public functions whose only required argument is a text or bytes are found automatically. Add others that take a text
here or to `inner_readers.py`, or to `exempt.py` with the reason; a test fails if one is missing.
"""

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from typing import Any

from assayer.blinding import blind
from assayer.citing import evidence, foreign_labels, further_quotes, labels, quotes, spelling, whole_sentences
from assayer.curation import leakage
from assayer.curation import records as curation_records
from assayer.curation.options import LeakageLimits
from assayer.errors import AssayerError
from assayer.ideas import parsing, records
from assayer.literature import openalex_fields, own_paper, withdrawals
from assayer.methods.check import text_matching
from assayer.methods.debate import guard_sentences, idea_shape
from assayer.methods.grapheval.viewpoints import splitter
from assayer.methods.innoeval import prompt_evidence
from assayer.methods.innoeval.search import excerpts
from assayer.models import CitedWork, Idea, IdeaId, Paper, PaperId
from assayer.models.window import OPEN
from assayer.own_references import citing_marks, entries, kept_words, names, passages
from assayer.text import bounded_lines, contents, decoding, frequent_words, headings, sanitise, stems
from benchmarks.hostile.fuzzing.inner_readers import INNER_READERS
from benchmarks.hostile.fuzzing.public_functions import build_readers, encode_text
from benchmarks.hostile.fuzzing.reference_readers import REFERENCE_READERS
from orchestrator.batches import body_reader, csv_rows, json_rows, rows, uploaded_files
from orchestrator.settings import BatchSettings
from workers.full_texts import cited_places, grobid_tei
from workers.literature_apis import arxiv, record_fields
from workers.llm import completion, stated_limits
from workers.sandbox import page_extraction
from workers.sandbox.refusal import Refused
from workers.web import search

REFUSALS = (AssayerError, Refused)
"""Exceptions that a reader may raise for any input."""

_TODAY = dt.date(2026, 11, 1)
_MAX_CHARACTERS = 400_000
_SENTENCE_CHARACTERS = 600
"""Length to which checks cut sentences before reading them."""
_ABSTRACT_CHARACTERS = 6_000
"""Maximum characters of an abstract in curation, by default."""
_PROSE = "We propose to measure how often reviewers agree with each other about the same plan of research. " * 3
_PAPER = Paper(id=PaperId("a"), title="On reading claims", abstract=_PROSE, source="corpus")
_WORKS = tuple(
    CitedWork(title=f"Replay of text {number}", authors=(f"Lee{number}, A.",), year=2019) for number in range(50)
)
_SOURCE = evidence.Evidence(label="P1", paper_id=PaperId("a"), title="", year=2019, text=_PROSE, places=())


def _build_idea(text: str) -> Idea:
    return Idea(id=IdeaId("x"), title="x", text=text, sections=(), source="x")


def _create_line_counter() -> rows.LineCounter:
    return rows.LineCounter(10_000, lambda: False)


def _find_spans(text: str) -> Any:
    return next(iter(quotes.find_quote(text[:300], text)), ())


def _read_csv(text: str) -> object:
    return list(
        csv_rows.read_csv_rows(
            io.BytesIO(encode_text(text)), "a.csv", 1, _MAX_CHARACTERS, _TODAY, _create_line_counter()
        )
    )


def _read_csv_cell(text: str) -> object:
    csv_text = f'title,text\na,"{_PROSE} {text.replace(chr(34), chr(34) * 2)}"\n'
    return list(
        csv_rows.read_csv_rows(
            io.BytesIO(encode_text(csv_text)), "a.csv", 1, _MAX_CHARACTERS, _TODAY, _create_line_counter()
        )
    )


def _read_body(text: str, kind: body_reader.BodyKind) -> object:
    """Read the text as the whole body of a batch, down to its rows."""
    return list(body_reader.read_rows(io.BytesIO(encode_text(text)), kind, "", BatchSettings(), _TODAY))


def _read_zip(text: str) -> object:
    """Read the text as a file in an archive, because a damaged archive would be refused before its text is read."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", encode_text(text))
    return list(body_reader.read_rows(file, "zip", "", BatchSettings(), _TODAY))


def _read_form(text: str) -> object:
    head = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n'
    body = io.BytesIO(head + encode_text(text) + b"\r\n--b--\r\n")
    return list(uploaded_files.read_form_files(body, "multipart/form-data; boundary=b", _MAX_CHARACTERS))


def _build_tei(text: str) -> bytes:
    """Return TEI, as written by a PDF parser, with the text as heading, paragraph and reference."""
    safe = sanitise.clean_text(text).replace("&", "&amp;").replace("<", "&lt;")
    return encode_text(
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>'
        f"<div><head>{safe}</head><p>{safe}</p></div></body><back><div><listBibl><biblStruct><analytic>"
        f"<title>{safe}</title></analytic></biblStruct></listBibl></div></back></text></TEI>"
    )


def _read_page(text: str) -> object:
    page = encode_text(f"<html><body><article><h1>A</h1><p>{_PROSE}</p><p>{text}</p></article></body></html>")
    return page_extraction.extract_article(page, "utf-8", "https://example.org/", _TODAY.isoformat())


def _parse_completion(text: str) -> object:
    """Parse the text as a chat completion; ValueError counts as a refusal."""
    try:
        return completion.parse_completion(encode_text(text))
    except ValueError:
        return None


_LISTED_READERS: dict[str, Callable[[str], object]] = {
    **INNER_READERS,
    "workers.llm.stated_limits.find_stated_window": lambda text: stated_limits.find_stated_window(text, ""),
    **REFERENCE_READERS,
    "assayer.blinding.blind.spans_to_mask": lambda text: blind.spans_to_mask(text, "A title"),
    "assayer.citing.further_quotes.find_further_quotes": lambda text: further_quotes.find_further_quotes(
        text, _SOURCE.paper_id, "a", (), _SOURCE.model_copy(update={"text": text})
    ),
    "assayer.citing.evidence.check_quote": lambda text: evidence.check_quote(text, _SOURCE),
    "assayer.citing.foreign_labels.find_foreign_labels": lambda text: list(
        foreign_labels.find_foreign_labels(text, {"P1"})
    ),
    "assayer.citing.labels.replace_labels_with_markers": lambda text: labels.replace_labels_with_markers(
        text, {"P1": PaperId("a")}
    ),
    "assayer.citing.labels.relabel": lambda text: labels.relabel(text, {PaperId("a"): "P1"}),
    "assayer.citing.labels.split_at_labels": lambda text: list(labels.split_at_labels(text, ())),
    "assayer.citing.labels.complain_about_unknown_labels": lambda text: labels.complain_about_unknown_labels(
        text.split(), (), "paper"
    ),
    "assayer.citing.quotes.find_quote": lambda text: list(quotes.find_quote(text[:300], text)),
    "assayer.citing.quotes.occurs_in": lambda text: quotes.occurs_in(text[:300], text),
    "assayer.citing.spelling.find_letters": lambda text: list(spelling.find_letters(text[:300], text, 0)),
    "assayer.citing.whole_sentences.find_quoted_sentences": lambda text: whole_sentences.find_quoted_sentences(
        text, _find_spans(text)
    ),
    "assayer.citing.whole_sentences.explain_too_short": lambda text: whole_sentences.explain_too_short(
        text, _find_spans(text)
    ),
    "assayer.curation.leakage.measure_leakage": lambda text: leakage.measure_leakage(
        text[:2_000], "A title", text[:_ABSTRACT_CHARACTERS], LeakageLimits()
    ),
    "assayer.curation.records.parse_question": lambda text: curation_records.parse_question(text, "a test"),
    "assayer.ideas.parsing.check_length": lambda text: parsing.check_length(text, "a test"),
    "assayer.ideas.parsing.idea_id": lambda text: parsing.idea_id("A title", text),
    "assayer.ideas.parsing.parse_idea": lambda text: parsing.parse_idea(f"{_PROSE}\n\n{text}", "a test"),
    "assayer.ideas.records.decode_json": lambda text: records.decode_json(text, "a test"),
    "assayer.literature.openalex_fields.collect_work_identifiers": lambda text: (
        openalex_fields.collect_work_identifiers(text, text, text, text, (text,))
    ),
    "assayer.literature.own_paper.is_own_paper": lambda text: own_paper.is_own_paper(
        text, own_paper.build_shingles(text), _PAPER
    ),
    "assayer.literature.withdrawals.says_withdrawn": lambda text: withdrawals.says_withdrawn(text, text),
    "assayer.methods.debate.guard_sentences.score_sentence": lambda text: guard_sentences.score_sentence(
        text[:_SENTENCE_CHARACTERS]
    ),
    "assayer.methods.debate.guard_sentences.extract_features": lambda text: guard_sentences.extract_features(
        text[:_SENTENCE_CHARACTERS]
    ),
    "assayer.methods.debate.idea_shape.find_own_words": lambda text: idea_shape.find_own_words(text, "A question"),
    "assayer.methods.debate.idea_shape.measure_shared_wording": lambda text: idea_shape.measure_shared_wording(
        text, text
    ),
    "assayer.methods.grapheval.viewpoints.splitter.split_viewpoints": lambda text: splitter.split_viewpoints(text, 30),
    "assayer.methods.innoeval.prompt_evidence.shorten_middle": lambda text: prompt_evidence.shorten_middle(text, 2_000),
    "assayer.methods.innoeval.search.excerpts.collect_words": excerpts.collect_words,
    "assayer.methods.check.text_matching.truncate_words": lambda text: text_matching.truncate_words(text, 99),
    "assayer.own_references.citing_marks.identifier_marks": lambda text: citing_marks.identifier_marks(text, _WORKS),
    "assayer.own_references.citing_marks.name_marks": lambda text: citing_marks.name_marks(text, _WORKS),
    "assayer.own_references.citing_marks.number_marks": lambda text: citing_marks.number_marks(text, range(1, 99)),
    "assayer.own_references.citing_marks.numbers_in": lambda text: citing_marks.numbers_in(text, 99),
    "assayer.own_references.entries.read_references": lambda text: entries.read_references(_build_idea(text)),
    "assayer.own_references.kept_words.remove_names": lambda text: kept_words.remove_names(text, {("Lee",)}),
    "assayer.own_references.names.is_named_in": lambda text: names.is_named_in("Lee, A.", text),
    "assayer.own_references.names.names_may_match": lambda text: names.names_may_match(text, text[::-1]),
    "assayer.own_references.passages.find_citing_passages": lambda text: passages.find_citing_passages(text, _WORKS),
    "assayer.text.contents.contents_of": lambda text: contents.contents_of("A title", text),
    "assayer.text.contents.text_with_title": lambda text: contents.text_with_title("A title", text),
    "assayer.text.decoding.decode_text": lambda text: decoding.decode_text(encode_text(text), "a test"),
    "assayer.text.decoding.encoding_of": lambda text: decoding.encoding_of(io.BytesIO(encode_text(text)), "a test"),
    "assayer.text.headings.split_at": lambda text: headings.split_at(text, headings.find_headings(text), "Overview"),
    "assayer.text.frequent_words.find_frequent_words": lambda text: frequent_words.find_frequent_words(
        text[:999], text
    ),
    "assayer.text.stems.stems": lambda text: stems.stems([text]),
    "orchestrator.batches.body_reader.read_rows": lambda text: _read_body(text, "zip"),
    "orchestrator.batches.body_reader.read_rows, a file of an archive": _read_zip,
    "orchestrator.batches.csv_rows.read_csv_rows": _read_csv,
    "orchestrator.batches.csv_rows.read_csv_rows, one cell": _read_csv_cell,
    "orchestrator.batches.json_rows.read_json_rows": lambda text: list(
        json_rows.read_json_rows(io.BytesIO(encode_text(text)), "a.json", 1, _TODAY)
    ),
    "orchestrator.batches.json_rows.read_jsonl_rows": lambda text: list(
        json_rows.read_jsonl_rows(
            io.BytesIO(encode_text(text)), "a.jsonl", 1, _MAX_CHARACTERS, _TODAY, _create_line_counter()
        )
    ),
    "assayer.text.bounded_lines.bounded_lines": lambda text: list(
        bounded_lines.bounded_lines(
            io.BytesIO(encode_text(text)), "utf-8", _MAX_CHARACTERS, _create_line_counter().count
        )
    ),
    "assayer.text.bounded_lines.check_readable": lambda text: bounded_lines.check_readable(text, "utf-8", "a test"),
    "orchestrator.batches.uploaded_files.read_form_files": _read_form,
    "workers.full_texts.cited_places.read_citing_paper": lambda text: cited_places.read_citing_paper(_build_tei(text)),
    "workers.full_texts.grobid_tei.parse_tei": lambda text: grobid_tei.parse_tei(_build_tei(text)),
    "workers.full_texts.grobid_tei.read_tei": lambda text: grobid_tei.read_tei(encode_text(text), "a test"),
    "workers.llm.completion.parse_completion": _parse_completion,
    "workers.sandbox.page_extraction.extract_article": _read_page,
    "workers.literature_apis.arxiv.read_page": lambda text: arxiv.read_page(encode_text(text), 0),
    "workers.literature_apis.arxiv.build_search_query": lambda text: arxiv.build_search_query(text, OPEN),
    "workers.literature_apis.record_fields.list_distinct_links": record_fields.list_distinct_links,
    "workers.literature_apis.record_fields.make_paper_id": lambda text: record_fields.make_paper_id("a", text),
    "workers.web.search.parse_shown_date": lambda text: search.parse_shown_date(text, _TODAY),
}
READERS: dict[str, Callable[[str], object]] = {**build_readers(_LISTED_READERS), **_LISTED_READERS}
"""Readers by full name; a function with two entry points has a second entry, named after a comma."""
