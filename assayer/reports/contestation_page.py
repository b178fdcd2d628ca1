"""A contestation in words, for the page and the PDF that an applicant is given."""

from collections.abc import Iterable, Iterator

from assayer.models import Absent, Frozen, Reference, Score
from assayer.reports import reference_wording, wording
from assayer.reports.brief import BriefLine
from assayer.reports.contestation import Contestation
from assayer.reports.escaping import one_line, web_url

__all__ = ["ContestationPage", "ContestationSection", "contestation_page"]

_LONGEST = 600


class ContestationSection(Frozen):
    title: str
    lead: str
    lines: tuple[BriefLine, ...]


class CitedPaper(Frozen):
    label: str
    text: str
    url: str
    """Empty for none that may be a link."""
    warning: str


class ContestationPage(Frozen):
    title: str
    subtitle: str
    evaluation: str
    sections: tuple[ContestationSection, ...]
    papers: tuple[CitedPaper, ...]
    year: int
    month: int
    day: int


def contestation_page(what: Contestation) -> ContestationPage:
    method = wording.METHODS.get(what.method, what.method)
    return ContestationPage(
        title=one_line(what.title)[:_LONGEST],
        subtitle=f"{method} · evaluated {wording.moment(what.evaluated_at)}",
        evaluation=what.evaluation,
        sections=tuple(
            ContestationSection(title=title, lead=lead, lines=tuple(lines)) for title, lead, lines in _sections(what)
        ),
        papers=tuple(map(_paper, what.papers)),
        year=what.evaluated_at.year,
        month=what.evaluated_at.month,
        day=what.evaluated_at.day,
    )


def _paper(one: Reference) -> CitedPaper:
    authors, year = one_line(reference_wording.authors(one)), reference_wording.year(one)
    return CitedPaper(
        label=one.label,
        text=f"{authors}. {one_line(one.title)}. {year}",
        url=web_url(one.url) or "",
        warning=reference_wording.retraction(one.retraction) if one.retraction else "",
    )


def _sections(what: Contestation) -> Iterator[tuple[str, str, Iterable[BriefLine]]]:
    yield "What was judged", "The text whose digest stands here, and nothing else of the applicant.", _judged(what)
    yield "What was masked", _masked_lead(what), _masked(what)
    if what.flags:
        lead = "Parts of the text that looked as if they were meant to deceive. What nobody could see was removed."
        yield "What was suspicious", lead, _flags(what)
    yield "What it came to", "The program suggests; people decide.", _scores(what)
    yield "By what it was judged", "", _means(what)
    yield (
        "Which prompts",
        "Task, version, and the digest of the file, which is public with the program.",
        _prompts(what),
    )
    yield "Where was looked", _looked(what), _sources(what)
    if what.dropped:
        yield "What was left out, and why", "", _dropped(what)


def _line(name: str, text: str) -> BriefLine:
    return BriefLine(name=one_line(name)[:120], text=one_line(text)[:_LONGEST])


def _judged(what: Contestation) -> Iterator[BriefLine]:
    yield _line("Named", what.source)
    yield _line("Length", wording.count(what.characters, "character"))
    yield _line("SHA-256", what.text_sha256)
    cutoff = what.cutoff.isoformat() if what.cutoff else "none: all literature counts"
    yield _line("Literature up to", cutoff)


def _masked_lead(what: Contestation) -> str:
    if what.blinding is None:
        return "Nothing: it was judged as it came in."
    return f"{wording.masked_counts(what.blinding)}. {wording.WHO_SAW_MASKED}"


def _masked(what: Contestation) -> Iterator[BriefLine]:
    for kind, group in wording.masked_by_kind(what.blinding) if what.blinding else ():
        plural = wording.MASKED[kind][1]
        yield _line(plural[:1].upper() + plural[1:], "; ".join(wording.masked_words(one) for one in group))


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
    certainty = f", certainty {score.certainty}" if score.certainty else ""
    return f"{score.value:.1f} on a scale of {score.scale_min:g} to {score.scale_max:g}{certainty}. {score.basis}"


def _means(what: Contestation) -> Iterator[BriefLine]:
    yield _line("Language models", ", ".join(what.models) or "none")
    tokens = f"{wording.count(what.prompt_tokens)} sent, {wording.count(what.completion_tokens)} received"
    yield _line("Tokens", tokens)
    yield _line("Embedding model", what.embedding_model)
    yield _line("Reranking model", what.reranking_model or "none")
    yield _line("Program", what.program)


def _prompts(what: Contestation) -> Iterator[BriefLine]:
    for one in what.prompts:
        yield _line(one.task, f"version {one.version}, {one.digest or 'digest not known: the report is from before'}")


def _looked(what: Contestation) -> str:
    return (
        f"{wording.count(what.papers_found, 'paper')} were found, {wording.count(what.papers_read)} read, "
        f"{wording.count(len(what.papers))} are cited."
    )


def _sources(what: Contestation) -> Iterator[BriefLine]:
    yield _line("Corpus", what.corpus_version)
    fit = what.corpus_fit
    said = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}. {fit.criterion}"
    yield _line("Does it cover the field?", said)
    for use in what.sources:
        asked = f"{wording.OPERATIONS[use.operation]}: {wording.count(use.requests, 'request')}"
        yield _line(use.source, f"{asked}, {wording.count(use.results, 'result')}")


def _dropped(what: Contestation) -> Iterator[BriefLine]:
    for one in what.dropped:
        yield _line(wording.count(one.count, one.what), one.reason)
