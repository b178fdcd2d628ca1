"""Contestation record in plain words, for the web page and for the PDF that an applicant receives."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator

from assayer.models import Absent, FitLevel, Frozen, Score, SourceUse
from assayer.reports import reference_wording, wording
from assayer.reports.brief import BriefLine, BriefReference, build_brief_reference
from assayer.reports.escaping import join_lines
from assayer.reports.prompt_wording import get_question
from assayer_client.contestation import Contestation

_MAX_CHARS = 600
_COVERAGE_SENTENCES: dict[FitLevel, str] = {
    "good": "It covers the field of this proposal.",
    "partial": "It covers the field of this proposal only in part, so work that was not found may still exist.",
    "poor": "It does not cover the field of this proposal, so not finding something in it proves nothing.",
}


class ContestationSection(Frozen):
    title: str
    lead: str
    lines: tuple[BriefLine, ...]


class ContestationPage(Frozen):
    title: str
    subtitle: str
    evaluation: str
    sections: tuple[ContestationSection, ...]
    """Sections in plain language."""
    papers: tuple[BriefReference, ...]
    technical: tuple[ContestationSection, ...]
    """Technical sections for verification, placed at the end."""
    day: dt.date


def build_contestation_page(record: Contestation) -> ContestationPage:
    method = wording.METHODS.get(record.method, record.method)
    return ContestationPage(
        title=join_lines(record.title)[:_MAX_CHARS],
        subtitle=f"Evaluated with the method {method} on {record.evaluated_at:%Y-%m-%d}",
        evaluation=record.evaluation,
        sections=tuple(_build_sections(record)),
        papers=tuple(map(build_brief_reference, record.papers)),
        technical=tuple(_build_technical_sections(record)),
        day=record.evaluated_at.date(),
    )


def _build_section(title: str, lead: str, lines: Iterable[tuple[str, str]] = ()) -> ContestationSection:
    shown_lines = (BriefLine(name=join_lines(name)[:120], text=join_lines(text)[:_MAX_CHARS]) for name, text in lines)
    return ContestationSection(title=title, lead=lead, lines=tuple(shown_lines))


def _build_sections(record: Contestation) -> Iterator[ContestationSection]:
    masking_note, blinding = "" if record.blinding is None else " after masking,", record.blinding
    literature = f"published up to {record.cutoff.isoformat()}" if record.cutoff else "of any date"
    yield _build_section(
        "What was judged",
        f"The text of the proposal as submitted,{masking_note} and nothing else about the applicant.",
        (
            ("File or row", record.source),
            ("Length", wording.format_count(record.characters, "character")),
            ("Literature", f"{literature} was taken into account"),
        ),
    )
    if blinding is None:
        yield _build_section("What was masked", "Nothing: it was judged as submitted.")
    else:
        lead = f"{wording.format_masked_counts(blinding)}. {wording.describe_who_saw_masked(blinding)}"
        kinds = ((wording.MASKED[kind][1], group) for kind, group in wording.group_masked_by_kind(blinding))
        lines = ((_capitalise(plural), "; ".join(map(wording.format_masked_text, group))) for plural, group in kinds)
        yield _build_section("What was masked", lead, lines)
    if record.flags:
        lead = "Parts of the text that looked like attempts to deceive. Invisible text was removed."
        flags = ((wording.FLAGS[flag.kind], f"“{flag.excerpt}”") for flag in record.flags)
        yield _build_section("What was suspicious", lead, flags)
    yield _build_section("Scores", "These scores are the program's suggestion. People decide.", _list_scores(record))
    yield _build_section("Which model was used", _describe_models(record))
    if record.prompts:
        questions = ((f"Prompt {number}", get_question(prompt.task)) for number, prompt in enumerate(record.prompts, 1))
        yield _build_section("Which prompts were used", _PROMPTS_LEAD, questions)
    yield _build_section("Which sources were searched", _describe_search(record), _list_sources(record))
    if record.dropped:
        dropped_items = ((wording.format_count(item.count, item.item_kind), item.reason) for item in record.dropped)
        yield _build_section("What was left out, and why", "", dropped_items)


def _capitalise(text: str) -> str:
    """Return the text with its first letter in upper case and the rest unchanged."""
    return text[:1].upper() + text[1:]


def _list_scores(record: Contestation) -> Iterator[tuple[str, str]]:
    overall_score = record.score
    yield (
        "Overall",
        f"no total: {overall_score.reason}"
        if isinstance(overall_score, Absent)
        else f"{100 * overall_score:.0f} of 100",
    )
    yield from ((part.title, _describe_score(part.score)) for part in record.parts)


def _describe_score(score: Score | Absent) -> str:
    if isinstance(score, Absent):
        return f"no score: {score.reason}"
    certainty = f", with {score.certainty} certainty" if score.certainty else ""
    scale = f"{score.value:.1f} on a scale of {score.scale_min:g} to {score.scale_max:g}"
    return f"{scale}{certainty}. {_capitalise(score.basis)}"


def _describe_models(record: Contestation) -> str:
    if not record.models:
        return "No language model: the program compared texts by their words and meaning, and judged nothing."
    noun = "language model" if len(record.models) == 1 else "language models"
    return f"The {noun} {reference_wording.join_source_names(record.models)} answered the program's questions."


_PROMPTS_LEAD = (
    "A prompt is a question that the program asks the language model. Its text is fixed, the same for every proposal, "
    "and published with the program. The technical details state the version of each prompt that was used."
)


def _describe_search(record: Contestation) -> str:
    fit = record.corpus_fit
    unknown = "Whether it covers the field is not known"
    coverage = f"{unknown}: {fit.reason}" if isinstance(fit, Absent) else _COVERAGE_SENTENCES[fit.level]
    return (
        f"{wording.format_count(record.papers_found, 'paper')} were found, "
        f"{wording.format_count(record.papers_read)} read, "
        f"and {wording.format_count(len(record.papers))} cited. The corpus is this service's own collection of papers. "
        f"{coverage}"
    )


def _list_sources(record: Contestation) -> Iterator[tuple[str, str]]:
    by_source = defaultdict[str, list[SourceUse]](list)
    for use in record.sources:
        by_source[use.source].append(use)
    for source, uses in by_source.items():
        times = sum(use.requests for use in uses)
        times_queried = "once" if times == 1 else f"{wording.format_count(times)} times"
        purposes = ", ".join(dict.fromkeys(wording.OPERATIONS[use.operation] for use in uses))
        name = reference_wording.SOURCES.get(source, source)
        yield _capitalise(name) if " " in name else name, f"queried {times_queried}: {purposes}"


def _build_technical_sections(record: Contestation) -> Iterator[ContestationSection]:
    yield _build_section(
        "Evaluation and text",
        "The SHA-256 shows whether a text is the one that was judged.",
        (
            ("Evaluation", record.evaluation),
            ("Evaluation started", wording.format_moment(record.evaluated_at)),
            ("SHA-256 of the text", record.text_sha256),
        ),
    )
    fit = record.corpus_fit
    fit_text = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}, {fit.value:.3f}. {fit.criterion}"
    yield _build_section(
        "Program, models and literature",
        "",
        (
            ("Program", record.program),
            ("Language models", ", ".join(record.models) or "none"),
            (
                "Tokens",
                f"{wording.format_count(record.prompt_tokens)} sent, "
                f"{wording.format_count(record.completion_tokens)} received",
            ),
            ("Embedding model", record.embedding_model),
            ("Reranking model", record.reranking_model or "none"),
            ("Version of the corpus", record.corpus_version),
            ("Fit of the corpus", fit_text),
        ),
    )
    if record.prompts:
        lead = "The version of each prompt, and the digest of its file. The files are published with the program."
        versions = (f"{prompt.task}, version {prompt.version}, {prompt.digest}" for prompt in record.prompts)
        yield _build_section("Prompts", lead, ((f"Prompt {number}", text) for number, text in enumerate(versions, 1)))
