"""Inner readers, which are called by others: parts of blinding, names in the corpus, and functions of the API, the
console and the MCP tools that process external text."""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable

from pydantic import BaseModel

from assayer.bias_test import variants
from assayer.blinding import (
    acting_people,
    author_block,
    caseless_names,
    caseless_people,
    front_people,
    identifying_sections,
    initials,
    institution_patterns,
    labelled_lines,
    lone_surnames,
    mentions,
    names,
    people,
    personal_pages,
    remaining_names,
    roles,
    self_cited_works,
    spans,
)
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.citing import claim_numbers, claim_quotes, labels
from assayer.citing import evidence as citing_evidence
from assayer.citing.excerpts import cut_excerpt, join_excerpts
from assayer.ideas import exports, front_matter, record_fields, tables
from assayer.ideas.titles import find_title_heading
from assayer.methods.debate import turns
from assayer.methods.grapheval.scoring import choice
from assayer.methods.innoeval.search import excerpts
from assayer.methods.review import panel
from assayer.methods.scicompanion import prompt_state
from assayer.models import CitedWork, Idea, IdeaId, PaperId
from assayer.models.reward import RewardItem
from assayer.own_references import titles
from assayer.prompts import fence
from assayer.text import headings, raised_text
from assayer.text.sanitise import build_hidden_flags
from assayer_client import errors as client_errors
from benchmarks.hostile.fuzzing.document_readers import DOCUMENT_READERS, escape_xml
from cluster.cli import mcp, output
from cluster.corpora import tei_records
from cluster.mcp import callers
from index.ingest import arxiv_oai, openalex_snapshot
from index.records import json_lines, paper_record
from index.segments import content_graph, content_readings, passages
from orchestrator.access.roles import MemberId
from orchestrator.problems import HttpProblem, suggest_known_name
from orchestrator.reviewing import conflict_search, institutions
from orchestrator.services import batch_summaries
from orchestrator.web import content_negotiation, pagination, validation_errors
from workers.fetching import content_types, ssrf_guard
from workers.full_texts import pdf_locations
from workers.full_texts.settings import HostSettings
from workers.literature_apis import query_encoding
from workers.llm import chat_completion
from workers.outbound import source_requests
from workers.outbound.source_requests import SourceResponse

_NOW = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
_WORK = CitedWork(title="Replay of text in fixed order", authors=("Lee, A.",), year=2019)
_ROE = names.person_of("Jane Roe")
_PEOPLE = (_ROE,) if _ROE else ()
_REVIEWER = conflict_search.ReviewerDetails(MemberId("a"), "Jane Roe", "University of Aa; Bb Institute")
_IDEA = Idea(id=IdeaId("x"), title="x", text="x", sections=(), source="x")
_ITEM = RewardItem(question="How?", idea="We replay.", abstract="They replay.")


class _Answer(BaseModel):
    title: str = ""


def _read_table(text: str) -> object:
    rows = (
        tables.IdeaTableRow(number=1, cells=("title", "text")),
        tables.IdeaTableRow(number=2, cells=(text[:999], text), hidden=(text[:999],)),
    )
    return list(tables.table_ideas(tables.IdeaTable(sheet="a", rows=rows), "a.xlsx").rows)


def _read_source_json(text: str) -> object:
    body = text.encode("utf-8", "replace")
    return source_requests.parse_json(SourceResponse(200, body, _NOW, False), _Answer, "a test")


def _check_first_bytes(text: str) -> object:
    return content_types.check_first_bytes(text.encode("utf-8", "replace")[:2_048], "text/html", ("html", "pdf"), "a")


def _read_record(text: str) -> object:
    tei = (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>{escape_xml(text[:999])}</title>'
        f"</titleStmt></fileDesc><profileDesc><abstract><p>{escape_xml(text)}</p></abstract></profileDesc></teiHeader>"
        f"<text><body><div><head>A</head><p>{escape_xml(text)}</p></div></body></text></TEI>"
    )
    return _allow_refusal(lambda: tei_records.parse_tei_record(tei.encode("utf-8", "replace"), "a"))


def _open_text(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode("utf-8", "replace"))


def _read_merged_ids(text: str) -> object:
    """Read the text as a file in the snapshot's format; csv.Error counts as a refusal."""
    try:
        return list(openalex_snapshot.read_merged_ids(io.StringIO(text)))
    except csv.Error:
        return None


def _allow_refusal(read: Callable[[], object]) -> object:
    """Call a reader; ValueError counts as a refusal, because callers skip invalid records."""
    try:
        return read()
    except ValueError:
        return None


def _read_oai(text: str) -> object:
    page = (
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header><identifier>a</identifier>'
        f"<datestamp>2026-01-01</datestamp></header><metadata><arXiv><id>{escape_xml(text[:99])}</id><title>{escape_xml(text)}</title><abstract>{escape_xml(text)}</abstract></arXiv></metadata></record></ListRecords></OAI-PMH>"
    )
    return arxiv_oai.read_oai_page(page.encode("utf-8", "replace"))


def _limit_header(read: Callable[[str], object]) -> Callable[[str], object]:
    """Wrap a reader of request headers, which together have at most 64 kB; an HttpProblem counts as an answer."""

    def read_header(text: str) -> object:
        try:
            return read(text[:65_536])
        except HttpProblem:
            return None

    return read_header


def _find_institutions(text: str) -> object:
    name = institutions.parse_institution_name(["university", "of", "turin"])
    if name is None:
        raise LookupError(name)
    return list(institutions.find_institution(name, text, list(re.finditer(r"\w+", text)), str.casefold))


INNER_READERS: dict[str, Callable[[str], object]] = {
    **DOCUMENT_READERS,
    "assayer.bias_test.variants.build_persuasive_variant": lambda text: variants.build_persuasive_variant(
        _IDEA, 1, text
    ),
    "assayer.blinding.acting_people.find_acting_people": lambda text: list(
        acting_people.find_acting_people(text, acting_people.find_possible_people(text))
    ),
    "assayer.blinding.acting_people.find_people_near": lambda text: list(
        acting_people.find_people_near(text, acting_people.find_possible_people(text), [MaskSpan(0, 1, "name")])
    ),
    "assayer.blinding.acting_people.names_act_alone": lambda text: acting_people.names_act_alone(text, _PEOPLE),
    "assayer.blinding.author_block.author_block": lambda text: list(
        author_block.author_block(text, "A title", headings.find_headings(text))
    ),
    "assayer.blinding.caseless_names.find_caseless_mentions": lambda text: list(
        caseless_names.find_caseless_mentions(text, (Person("", "鴻巣"),))
    ),
    "assayer.blinding.caseless_people.caseless_names_may_remain": lambda text: (
        caseless_people.caseless_names_may_remain("A title", text, recognised=True)
    ),
    "assayer.blinding.initials.find_initials": lambda text: list(initials.find_initials(text, _PEOPLE)),
    "assayer.blinding.labelled_lines.people_of_value": lambda text: labelled_lines.people_of_value(text, frozenset()),
    "assayer.blinding.lone_surnames.find_authors_of_unpublished": lambda text: list(
        lone_surnames.find_authors_of_unpublished(text)
    ),
    "assayer.blinding.lone_surnames.find_lone_surnames": lambda text: list(lone_surnames.find_lone_surnames(text)),
    "assayer.blinding.mentions.person_of_word": lambda text: mentions.person_of_word(text, frozenset()),
    "assayer.blinding.self_cited_works.authors_of_own_works": lambda text: self_cited_works.authors_of_own_works(
        text, (CitedWork(number=1, title="A title", raw=text[:4_000]),)
    ),
    "assayer.blinding.author_block.is_front_matter": lambda text: author_block.is_front_matter(text, frozenset()),
    "assayer.blinding.front_people.people_in_fields": lambda text: front_people.people_in_fields((text,), text),
    "assayer.blinding.front_people.people_of_front": lambda text: front_people.people_of_front(text, frozenset()),
    "assayer.blinding.people.people_from": lambda text: list(people.people_from(text, 0)),
    "assayer.blinding.remaining_names.known_names_remain": lambda text: remaining_names.known_names_remain(
        text, _PEOPLE
    ),
    "assayer.blinding.remaining_names.find_exact": lambda text: list(
        remaining_names.find_exact(text, text.split()[:9])
    ),
    "assayer.blinding.remaining_names.names_may_remain": lambda text: remaining_names.names_may_remain(
        "A title", text, _PEOPLE
    ),
    "assayer.blinding.identifying_sections.identifying_sections": lambda text: list(
        identifying_sections.identifying_sections(text, headings.find_headings(text), ())
    ),
    "assayer.blinding.institution_patterns.affiliations": lambda text: list(
        institution_patterns.affiliations(text, [])
    ),
    "assayer.blinding.labelled_lines.find_labelled_lines": lambda text: list(
        labelled_lines.find_labelled_lines(text, 500)
    ),
    "assayer.blinding.mentions.find_mentions": lambda text: list(mentions.find_mentions(text, _PEOPLE)),
    "assayer.blinding.names.is_list_of_people": lambda text: names.is_list_of_people(text, confirmed=False),
    "assayer.blinding.names.people_of_one_form": names.people_of_one_form,
    "assayer.blinding.people.find_likely_people": lambda text: list(people.find_likely_people(text, 0, len(text))),
    "assayer.blinding.personal_pages.personal_pages": lambda text: list(personal_pages.personal_pages(text, _PEOPLE)),
    "assayer.blinding.roles.roles": lambda text: list(roles.roles(text, ())),
    "assayer.blinding.spans.apply": lambda text: spans.apply(text, ()),
    "assayer.citing.claim_quotes.build_quoted_point": lambda text: claim_quotes.build_quoted_point(
        "support", text, {"P1": PaperId("a")}, (), claim_numbers.KnownNumbers(set(), {PaperId("a"): set()})
    ),
    "assayer.citing.labels.find_labels": lambda text: list(labels.find_labels(text)),
    "assayer.citing.labels.complain_about_uncited_texts": lambda text: labels.complain_about_uncited_texts((text,)),
    "assayer.citing.evidence.build_point": lambda text: citing_evidence.build_point(
        "support", text, {"P1": PaperId("a")}, {}
    ),
    "assayer.ideas.front_matter.split_front_matter, its fields": lambda text: front_matter.split_front_matter(
        f"---\n{text}\n---\nA plan"
    ),
    "assayer.ideas.record_fields.why_unread": lambda text: record_fields.why_unread(text, text),
    "assayer.ideas.tables.table_ideas": _read_table,
    "assayer.ideas.tables.check_columns": lambda text: tables.check_columns(text.split(","), "a test"),
    "assayer.methods.debate.turns.check_debate_quote": lambda text: turns.check_debate_quote(
        _ITEM.model_copy(update={"idea": text}), "idea", text[:300]
    ),
    "assayer.methods.grapheval.scoring.choice.build_titled_text": lambda text: choice.build_titled_text(
        "A title", text
    ),
    "assayer.methods.scicompanion.prompt_state.mark_cut": lambda text: prompt_state.mark_cut(text[:99], text),
    "assayer.methods.innoeval.search.excerpts.cut_excerpt": lambda text: excerpts.cut_excerpt((text,), {"plan"}, 2_000),
    "assayer.own_references.titles.is_other_title": lambda text: titles.is_other_title(_WORK, text),
    "assayer.own_references.titles.compare_titles": lambda text: titles.compare_titles(_WORK, text),
    "assayer.ideas.exports.export_of": lambda text: exports.export_of(text.split(",")),
    "assayer.ideas.exports.is_form": lambda text: exports.is_form(text.split(",")),
    "assayer.ideas.titles.find_title_heading": lambda text: find_title_heading(text, headings.find_headings(text)),
    "assayer.text.raised_text.join_scripts": lambda text: raised_text.join_scripts(
        (piece, "^" if place % 2 else "") for place, piece in enumerate(text.split(" "))
    ),
    "assayer.text.sanitise.build_hidden_flags": lambda text: build_hidden_flags([("page 1", text)]),
    "assayer_client.errors.build_problem": lambda text: client_errors.build_problem(
        400, {"content-type": "application/problem+json"}, text.encode("utf-8", "replace"), _NOW
    ),
    "assayer_client.errors.parse_retry_after": _limit_header(lambda text: client_errors.parse_retry_after(text, _NOW)),
    "cluster.cli.mcp.parse_host_and_port": mcp.parse_host_and_port,
    "cluster.cli.output.make_safe_name": output.make_safe_name,
    "cluster.corpora.tei_records.parse_tei_record": _read_record,
    "cluster.mcp.callers.parse_bearer_key": _limit_header(callers.parse_bearer_key),
    "index.ingest.arxiv_oai.read_oai_page": _read_oai,
    "index.ingest.openalex_snapshot.read_merged_ids": _read_merged_ids,
    "index.records.json_lines.read_bounded_lines": lambda text: list(json_lines.read_bounded_lines(_open_text(text))),
    "index.records.json_lines.read_lines": lambda text: list(json_lines.read_lines(_open_text(text))),
    "index.records.paper_record.parse_last_day": lambda text: _allow_refusal(lambda: paper_record.parse_last_day(text)),
    "index.records.paper_record.parse_works_json": lambda text: _allow_refusal(
        lambda: paper_record.parse_works_json(text)
    ),
    "index.segments.content_graph.extract_contents": lambda text: content_graph.extract_contents(text[:999], text),
    "index.segments.content_readings.compute_text_key": lambda text: content_readings.compute_text_key("A title", text),
    "index.segments.passages.build_paper_text": lambda text: passages.build_paper_text("A title", text),
    "index.segments.passages.list_passage_locations": lambda text: passages.list_passage_locations(0, text, (text,)),
    "orchestrator.web.content_negotiation.require_media_type": _limit_header(
        lambda text: content_negotiation.require_media_type(text, ("text/html",))
    ),
    "orchestrator.web.content_negotiation.choose_media_type": _limit_header(
        lambda text: content_negotiation.choose_media_type(text, ("text/html",))
    ),
    "orchestrator.web.content_negotiation.parse_preferred_wait": _limit_header(
        lambda text: content_negotiation.parse_preferred_wait((text,), 60)
    ),
    "orchestrator.web.pagination.decode_cursor": _limit_header(pagination.decode_cursor),
    "orchestrator.web.pagination.decode_panel_cursor": _limit_header(pagination.decode_panel_cursor),
    "orchestrator.services.batch_summaries.parse_tags": _limit_header(batch_summaries.parse_tags),
    "orchestrator.web.validation_errors.build_json_pointer": lambda text: validation_errors.build_json_pointer(
        text.split()
    ),
    "orchestrator.problems.suggest_known_name": lambda text: suggest_known_name(text, ("title", "text")),
    "orchestrator.reviewing.conflict_search.ConflictSearch": lambda text: list(
        conflict_search.ConflictSearch((_REVIEWER,)).find_conflicts("A title", text)
    ),
    "orchestrator.reviewing.institutions.parse_institution_name": lambda text: institutions.parse_institution_name(
        text.split()
    ),
    "orchestrator.reviewing.institutions.find_institution": _find_institutions,
    "workers.fetching.content_types.check_declared_type": lambda text: content_types.check_declared_type(
        text, ("html", "pdf"), "a test"
    ),
    "workers.fetching.content_types.check_first_bytes": _check_first_bytes,
    "workers.fetching.ssrf_guard.make_loggable": ssrf_guard.make_loggable,
    "workers.full_texts.pdf_locations.list_additional_pdf_locations": lambda text: (
        pdf_locations.list_additional_pdf_locations((text,), (), HostSettings())
    ),
    "workers.llm.chat_completion.estimate_tokens": chat_completion.estimate_tokens,
    "assayer.methods.review.panel.is_repetition": lambda text: panel.is_repetition(text, f"{text} more"),
    "assayer.prompts.fence": lambda text: fence(text, "idea"),
    "assayer.citing.evidence.check_plan_quote": lambda text: citing_evidence.check_plan_quote(text[:200], text),
    "assayer.citing.excerpts.cut_excerpt": lambda text: cut_excerpt(text[:200], text),
    "assayer.citing.excerpts.join_excerpts": lambda text: join_excerpts((text[:200], text[50:300]), text),
    "workers.literature_apis.query_encoding.split_into_url_batches": lambda text: list(
        query_encoding.split_into_url_batches(text.split(), 50, 2_000)
    ),
    "workers.outbound.source_requests.parse_json": _read_source_json,
}
