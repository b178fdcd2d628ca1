"""Contestation in words, for the page and for the PDF that an applicant receives."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from assayer.models import Absent, FitLevel, Frozen, Reference, Score, SourceUse
from assayer.reports import reference_wording, wording
from assayer.reports.brief import BriefLine
from assayer.reports.escaping import one_line, web_url
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


class CitedPaper(Frozen):
    label: str
    text: str
    url: str
    """Address of the link; empty if there is none that may be a link."""
    warning: str


class ContestationPage(Frozen):
    title: str
    subtitle: str
    evaluation: str
    sections: tuple[ContestationSection, ...]
    """Sections in plain language."""
    papers: tuple[CitedPaper, ...]
    technical: tuple[ContestationSection, ...]
    """Technical sections for verification, placed at the end."""
    year: int
    month: int
    day: int


def contestation_page(what: Contestation) -> ContestationPage:
    method = wording.METHODS.get(what.method, what.method)
    return ContestationPage(
        title=one_line(what.title)[:_LONGEST],
        subtitle=f"Evaluated with the method {method} on {what.evaluated_at:%Y-%m-%d}",
        evaluation=what.evaluation,
        sections=tuple(_section(*section) for section in _sections(what)),
        papers=tuple(map(_paper, what.papers)),
        technical=tuple(_section(*item) for item in _technical(what)),
        year=what.evaluated_at.year,
        month=what.evaluated_at.month,
        day=what.evaluated_at.day,
    )


def _section(title: str, lead: str, lines: Iterable[BriefLine]) -> ContestationSection:
    return ContestationSection(title=title, lead=lead, lines=tuple(lines))


def _paper(reference: Reference) -> CitedPaper:
    authors, year = one_line(reference_wording.authors(reference)), reference_wording.year(reference)
    return CitedPaper(
        label=reference.label,
        text=f"{authors}. {one_line(reference.title)}. {year}",
        url=web_url(reference.url) or "",
        warning=reference_wording.retraction(reference.retraction) if reference.retraction else "",
    )


def _sections(what: Contestation) -> Iterator[tuple[str, str, Iterable[BriefLine]]]:
    yield "What was judged", _judged_lead(what), _judged(what)
    yield "What was masked", _masked_lead(what), _masked(what)
    if what.flags:
        lead = "Parts of the text that looked as if they were meant to deceive. What nobody could see was removed."
        yield "What was suspicious", lead, _flags(what)
    yield "What it came to", "These scores are the program's suggestion. People decide.", _scores(what)
    yield "Which model", _model_lead(what), ()
    if what.prompts:
        yield "Which prompts", _PROMPTS_LEAD, _prompts(what)
    yield "Where was looked", _looked(what), _sources(what)
    if what.dropped:
        yield "What was left out, and why", "", _dropped(what)


def _technical(what: Contestation) -> Iterator[tuple[str, str, Iterable[BriefLine]]]:
    yield "Evaluation and text", "Whoever has the text can check by its SHA-256 that it is the one.", _identity(what)
    yield "Program, models and literature", "", _means(what)
    if what.prompts:
        lead = "Version, and digest of the prompt's file, which is public with the program."
        yield "Prompts", lead, _prompt_versions(what)


def _line(name: str, text: str) -> BriefLine:
    return BriefLine(name=one_line(name)[:120], text=one_line(text)[:_LONGEST])


def _judged_lead(what: Contestation) -> str:
    masked = "" if what.blinding is None else " after masking,"
    return f"The text of the proposal as it was handed in,{masked} and nothing else about the applicant."


def _judged(what: Contestation) -> Iterator[BriefLine]:
    yield _line("File or row", what.source)
    yield _line("Length", wording.count(what.characters, "character"))
    literature = f"published up to {what.cutoff.isoformat()}" if what.cutoff else "of any date"
    yield _line("Literature", f"{literature} was taken into account")


def _masked_lead(what: Contestation) -> str:
    if what.blinding is None:
        return "Nothing: it was judged as it came in."
    return f"{wording.masked_counts(what.blinding)}. {wording.WHO_SAW_MASKED}"


def _masked(what: Contestation) -> Iterator[BriefLine]:
    for kind, group in wording.masked_by_kind(what.blinding) if what.blinding else ():
        plural = wording.MASKED[kind][1]
        yield _line(plural[:1].upper() + plural[1:], "; ".join(wording.masked_words(item) for item in group))


def _flags(what: Contestation) -> Iterator[BriefLine]:
    for flag in what.flags:
        yield _line(wording.FLAGS[flag.kind], f"“{flag.excerpt}”")


def _scores(what: Contestation) -> Iterator[BriefLine]:
    whole = what.score
    yield _line(
        "All together", f"no total: {whole.reason}" if isinstance(whole, Absent) else f"{100 * whole:.0f} of 100"
    )
    for part in what.parts:
        yield _line(part.title, _score(part.score))


def _score(score: Score | Absent) -> str:
    if isinstance(score, Absent):
        return f"no score: {score.reason}"
    certainty = f", with {score.certainty} certainty" if score.certainty else ""
    basis = score.basis[:1].upper() + score.basis[1:]
    return f"{score.value:.1f} on a scale of {score.scale_min:g} to {score.scale_max:g}{certainty}. {basis}"


def _model_lead(what: Contestation) -> str:
    if not what.models:
        return "No language model: the program compared texts by their words and meaning, and nobody weighed them."
    noun = "language model" if len(what.models) == 1 else "language models"
    return f"The {noun} {reference_wording.listing(what.models)} answered the program's questions."


_PROMPTS_LEAD = (
    "A prompt is what the program asks the language model. Each is a fixed text, the same for every proposal, and "
    "public with the program; the version that was used stands in the technical part."
)


def _prompts(what: Contestation) -> Iterator[BriefLine]:
    for number, prompt in enumerate(what.prompts, 1):
        yield _line(f"Prompt {number}", question(prompt.task))


def _looked(what: Contestation) -> str:
    fit = what.corpus_fit
    unknown = "Whether it covers the field is not known"
    covered = f"{unknown}: {fit.reason}" if isinstance(fit, Absent) else _COVERED[fit.level]
    return (
        f"{wording.count(what.papers_found, 'paper')} were found, {wording.count(what.papers_read)} read, and "
        f"{wording.count(len(what.papers))} are cited. The corpus is this service's own collection of papers. {covered}"
    )


def _sources(what: Contestation) -> Iterator[BriefLine]:
    by_source = defaultdict[str, list[SourceUse]](list)
    for use in what.sources:
        by_source[use.source].append(use)
    for source, uses in by_source.items():
        times = sum(use.requests for use in uses)
        asked = "once" if times == 1 else f"{wording.count(times)} times"
        what_for = ", ".join(dict.fromkeys(wording.OPERATIONS[use.operation] for use in uses))
        name = reference_wording.SOURCES.get(source, source)
        yield _line(name[:1].upper() + name[1:] if " " in name else name, f"asked {asked}: {what_for}")


def _dropped(what: Contestation) -> Iterator[BriefLine]:
    for item in what.dropped:
        yield _line(wording.count(item.count, item.what), item.reason)


def _identity(what: Contestation) -> Iterator[BriefLine]:
    yield _line("Evaluation", what.evaluation)
    yield _line("Evaluation begun", wording.moment(what.evaluated_at))
    yield _line("SHA-256 of the text", what.text_sha256)


def _means(what: Contestation) -> Iterator[BriefLine]:
    yield _line("Program", what.program)
    yield _line("Language models", ", ".join(what.models) or "none")
    tokens = f"{wording.count(what.prompt_tokens)} sent, {wording.count(what.completion_tokens)} received"
    yield _line("Tokens", tokens)
    yield _line("Embedding model", what.embedding_model)
    yield _line("Reranking model", what.reranking_model or "none")
    yield _line("Version of the corpus", what.corpus_version)
    fit = what.corpus_fit
    said = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}, {fit.value:.3f}. {fit.criterion}"
    yield _line("Fit of the corpus", said)


def _prompt_versions(what: Contestation) -> Iterator[BriefLine]:
    for number, prompt in enumerate(what.prompts, 1):
        yield _line(f"Prompt {number}", f"{prompt.task}, version {prompt.version}, {prompt.digest}")
