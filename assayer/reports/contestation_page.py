"""Contestation record in words, for the web page and for the PDF that an applicant receives."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator

from assayer.models import Absent, FitLevel, Frozen, Score, SourceUse
from assayer.reports import reference_wording, wording
from assayer.reports.brief import BriefLine, BriefReference, brief_reference
from assayer.reports.escaping import one_line
from assayer.reports.prompt_wording import question
from assayer_client.contestation import Contestation

_LONGEST = 600
_COVERED: dict[FitLevel, str] = {
    "good": "It covers the field of this proposal.",
    "partial": "It covers the field of this proposal only in part: what was not found in it may exist all the same.",
    "poor": "It does not cover the field of this proposal: that something was not found in it says nothing.",
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


def contestation_page(what: Contestation) -> ContestationPage:
    method = wording.METHODS.get(what.method, what.method)
    return ContestationPage(
        title=one_line(what.title)[:_LONGEST],
        subtitle=f"Evaluated with the method {method} on {what.evaluated_at:%Y-%m-%d}",
        evaluation=what.evaluation,
        sections=tuple(_sections(what)),
        papers=tuple(map(brief_reference, what.papers)),
        technical=tuple(_technical(what)),
        day=what.evaluated_at.date(),
    )


def _section(title: str, lead: str, lines: Iterable[tuple[str, str]] = ()) -> ContestationSection:
    shown = (BriefLine(name=one_line(name)[:120], text=one_line(text)[:_LONGEST]) for name, text in lines)
    return ContestationSection(title=title, lead=lead, lines=tuple(shown))


def _sections(what: Contestation) -> Iterator[ContestationSection]:
    masked, blinding = "" if what.blinding is None else " after masking,", what.blinding
    literature = f"published up to {what.cutoff.isoformat()}" if what.cutoff else "of any date"
    yield _section(
        "What was judged",
        f"The text of the proposal as it was handed in,{masked} and nothing else about the applicant.",
        (
            ("File or row", what.source),
            ("Length", wording.count(what.characters, "character")),
            ("Literature", f"{literature} was taken into account"),
        ),
    )
    if blinding is None:
        yield _section("What was masked", "Nothing: it was judged as it came in.")
    else:
        lead = f"{wording.masked_counts(blinding)}. {wording.who_saw_masked(blinding)}"
        kinds = ((wording.MASKED[kind][1], group) for kind, group in wording.masked_by_kind(blinding))
        lines = ((_opened(plural), "; ".join(map(wording.masked_words, group))) for plural, group in kinds)
        yield _section("What was masked", lead, lines)
    if what.flags:
        lead = "Parts of the text that looked as if they were meant to deceive. Invisible text was removed."
        flags = ((wording.FLAGS[flag.kind], f"“{flag.excerpt}”") for flag in what.flags)
        yield _section("What was suspicious", lead, flags)
    yield _section("Scores", "These scores are the program's suggestion. People decide.", _scores(what))
    yield _section("Which model it used", _model_lead(what))
    if what.prompts:
        questions = ((f"Prompt {number}", question(prompt.task)) for number, prompt in enumerate(what.prompts, 1))
        yield _section("Which prompts it used", _PROMPTS_LEAD, questions)
    yield _section("Where it searched", _looked(what), _sources(what))
    if what.dropped:
        dropped = ((wording.count(item.count, item.what), item.reason) for item in what.dropped)
        yield _section("What was left out, and why", "", dropped)


def _opened(text: str) -> str:
    """Return the text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


def _scores(what: Contestation) -> Iterator[tuple[str, str]]:
    whole = what.score
    yield "All together", f"no total: {whole.reason}" if isinstance(whole, Absent) else f"{100 * whole:.0f} of 100"
    yield from ((part.title, _score(part.score)) for part in what.parts)


def _score(score: Score | Absent) -> str:
    if isinstance(score, Absent):
        return f"no score: {score.reason}"
    certainty = f", with {score.certainty} certainty" if score.certainty else ""
    scale = f"{score.value:.1f} on a scale of {score.scale_min:g} to {score.scale_max:g}"
    return f"{scale}{certainty}. {_opened(score.basis)}"


def _model_lead(what: Contestation) -> str:
    if not what.models:
        return "No language model: the program compared texts by their words and meaning, and judged nothing."
    noun = "language model" if len(what.models) == 1 else "language models"
    return f"The {noun} {reference_wording.listing(what.models)} answered the program's questions."


_PROMPTS_LEAD = (
    "A prompt is what the program asks the language model. Each is a fixed text, the same for every proposal, and "
    "public with the program; the version that was used stands in the technical part."
)


def _looked(what: Contestation) -> str:
    fit = what.corpus_fit
    unknown = "Whether it covers the field is not known"
    covered = f"{unknown}: {fit.reason}" if isinstance(fit, Absent) else _COVERED[fit.level]
    return (
        f"{wording.count(what.papers_found, 'paper')} were found, {wording.count(what.papers_read)} read, and "
        f"{wording.count(len(what.papers))} are cited. The corpus is this service's own collection of papers. {covered}"
    )


def _sources(what: Contestation) -> Iterator[tuple[str, str]]:
    by_source = defaultdict[str, list[SourceUse]](list)
    for use in what.sources:
        by_source[use.source].append(use)
    for source, uses in by_source.items():
        times = sum(use.requests for use in uses)
        asked = "once" if times == 1 else f"{wording.count(times)} times"
        what_for = ", ".join(dict.fromkeys(wording.OPERATIONS[use.operation] for use in uses))
        name = reference_wording.SOURCES.get(source, source)
        yield _opened(name) if " " in name else name, f"asked {asked}: {what_for}"


def _technical(what: Contestation) -> Iterator[ContestationSection]:
    yield _section(
        "Evaluation and text",
        "The SHA-256 shows whether a text is the one that was judged.",
        (
            ("Evaluation", what.evaluation),
            ("Evaluation begun", wording.moment(what.evaluated_at)),
            ("SHA-256 of the text", what.text_sha256),
        ),
    )
    fit = what.corpus_fit
    said = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}, {fit.value:.3f}. {fit.criterion}"
    yield _section(
        "Program, models and literature",
        "",
        (
            ("Program", what.program),
            ("Language models", ", ".join(what.models) or "none"),
            (
                "Tokens",
                f"{wording.count(what.prompt_tokens)} sent, {wording.count(what.completion_tokens)} received",
            ),
            ("Embedding model", what.embedding_model),
            ("Reranking model", what.reranking_model or "none"),
            ("Version of the corpus", what.corpus_version),
            ("Fit of the corpus", said),
        ),
    )
    if what.prompts:
        lead = "Version, and digest of the prompt's file, which is public with the program."
        versions = (f"{prompt.task}, version {prompt.version}, {prompt.digest}" for prompt in what.prompts)
        yield _section("Prompts", lead, ((f"Prompt {number}", text) for number, text in enumerate(versions, 1)))
