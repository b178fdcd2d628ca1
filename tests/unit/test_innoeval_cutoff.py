"""InnoEval: what is read as of the cutoff, and what came later."""

from dataclasses import replace

from assayer.methods.innoeval.schemas import (
    EvidenceRelevanceQuestion,
    GroundingQuestion,
)
from assayer.models import WebPage, WebResult, Window
from tests.unit.innoeval_runs import LongTexts, dropped_counts, evaluated, twin_backends
from tests.unit.innoeval_world import (
    CUTOFF,
    DAY,
    IDEA,
    PAGES,
    REPOSITORIES,
    TwinCode,
    TwinWeb,
    page,
    repository,
)


async def test_what_came_after_the_cutoff_is_kept_apart_and_never_grounded() -> None:
    backends, llm = twin_backends()
    evaluation, pack = await evaluated(backends, cutoff=CUTOFF)
    assert all(one.paper.publication_date and one.paper.publication_date <= CUTOFF for one in pack.before_cutoff)
    assert {one.kind for one in pack.after_cutoff} == {"literature", "web", "code"}
    assert all(one.paper.publication_date and one.paper.publication_date > CUTOFF for one in pack.after_cutoff)
    assert all(one.paper.publication_date for one in (*pack.before_cutoff, *pack.after_cutoff))
    late = {one.paper.id for one in pack.after_cutoff}
    shown = [
        find.paper_id
        for _, question in llm.asked
        if isinstance(question, GroundingQuestion)
        for find in question.evidence
    ]
    assert shown
    assert late.isdisjoint(shown)
    assert late.isdisjoint(reference.id for reference in evaluation.report.references)


async def test_with_a_cutoff_repositories_are_read_as_they_were_and_their_fame_is_not_shown() -> None:
    backends, llm = twin_backends()
    code = TwinCode()
    _, pack = await evaluated(replace(backends, code=code), cutoff=CUTOFF)
    before = {one.paper.title for one in pack.before_cutoff if one.kind == "code"}
    assert before
    assert {code.states[name] for name in before} == {CUTOFF}
    standings = [
        find.standing
        for _, question in llm.asked
        if isinstance(question, EvidenceRelevanceQuestion)
        for find in question.evidence
    ]
    assert not any("stars" in one or "cited" in one for one in standings)


async def test_undated_pages_count_only_without_a_cutoff() -> None:
    backends = replace(twin_backends()[0], web=TwinWeb([page(1, None)]))
    _, unlimited = await evaluated(backends)
    assert [(one.kind, one.paper.publication_date) for one in unlimited.before_cutoff if one.kind == "web"] == [
        ("web", None)
    ]
    bound, pack = await evaluated(backends, cutoff=CUTOFF)
    assert not any(one.kind == "web" for one in pack.before_cutoff)
    assert dropped_counts(bound)["web page", "on the other side of the cutoff, or undated"] >= 1


async def test_a_page_that_says_of_itself_that_it_is_newer_than_the_cutoff_is_no_knowledge() -> None:
    shown = page(1, CUTOFF - DAY)
    newer = WebPage(url=shown.url, title="Newer", site="x", text="It is newer than it looks.", published=CUTOFF + DAY)
    backends = replace(twin_backends()[0], web=TwinWeb([shown], {shown.url: newer}))
    _, pack = await evaluated(backends, cutoff=CUTOFF)
    assert not any(one.kind == "web" for one in pack.before_cutoff)


async def test_the_ideas_own_page_is_kept_out() -> None:
    own = WebResult(title=f"[2401.1] {IDEA.title.upper()} | arXiv", url="https://own.example.org/", snippet="")
    evaluation, pack = await evaluated(replace(twin_backends()[0], web=TwinWeb([own, PAGES[0]])))
    assert [one.paper.url for one in pack.before_cutoff if one.kind == "web"] == [PAGES[0].url]
    assert dropped_counts(evaluation)["web page", "the idea's own page or repository"] == 1


async def test_with_a_cutoff_no_prompt_that_judges_shows_todays_description_of_a_repository() -> None:
    backends, llm = twin_backends()
    described = [
        one.model_copy(update={"description": "Now with results of later work.", "topics": ("later",)})
        for one in REPOSITORIES
    ]
    _, pack = await evaluated(replace(backends, code=TwinCode(described)), cutoff=CUTOFF)
    assert any(one.kind == "code" for one in pack.before_cutoff)
    assert not any("results of later work" in one.paper.abstract for one in pack.before_cutoff)
    shown = [(name, question.model_dump_json()) for name, question in llm.asked]
    earlier = [text for name, text in shown if name == "innoeval.grounding"]
    assert earlier
    assert not any("results of later work" in text for text in earlier)
    _, unlimited = await evaluated(replace(twin_backends()[0], code=TwinCode(described)))
    assert any("results of later work" in one.paper.abstract for one in unlimited.before_cutoff)


async def test_the_ideas_own_repository_is_known_by_a_description_that_is_not_shown() -> None:
    own = repository(1, CUTOFF - DAY).model_copy(update={"description": f"Code of: {IDEA.title}"})
    evaluation, pack = await evaluated(replace(twin_backends()[0], code=TwinCode([own])), cutoff=CUTOFF)
    assert not any(one.kind == "code" for one in pack.before_cutoff)
    assert dropped_counts(evaluation)["repository", "the idea's own page or repository"] == 1


async def test_pages_dated_before_the_cutoff_are_announced_as_they_may_have_changed_since() -> None:
    evaluation, pack = await evaluated(twin_backends()[0], cutoff=CUTOFF)
    pages = sum(one.kind == "web" for one in pack.before_cutoff)
    assert pages
    (told,) = [one.text for one in evaluation.report.notices if one.kind == "undated_version"]
    assert f"{pages} web page(s)" in told
    unlimited, _ = await evaluated(twin_backends()[0])
    assert not any(one.kind == "undated_version" for one in unlimited.report.notices)


async def test_later_papers_are_read_as_of_today_and_earlier_ones_as_of_the_cutoff() -> None:
    texts = LongTexts()
    await evaluated(replace(twin_backends()[0], full_texts=texts), cutoff=CUTOFF)
    assert texts.windows == {Window.until(CUTOFF), Window.later_than(CUTOFF)}
