"""InnoEval: what is read as of the cutoff, and what came later."""

from dataclasses import replace

from assayer.methods.innoeval.schemas import EvidenceRelevanceQuestion, GroundingQuestion
from assayer.models import WebPage, WebResult
from tests.unit.innoeval_runs import dropped_counts, evaluated, twin_backends
from tests.unit.innoeval_world import CUTOFF, DAY, IDEA, PAGES, REPOSITORIES, TwinCode, TwinWeb, page


async def test_sources_after_the_cutoff_are_separated_and_never_grounded() -> None:
    backends, llm = twin_backends()
    evaluation, pack = await evaluated(backends, cutoff=CUTOFF)
    assert all(item.paper.publication_date and item.paper.publication_date <= CUTOFF for item in pack.before_cutoff)
    assert {item.kind for item in pack.after_cutoff} == {"literature", "web", "code"}
    assert all(item.paper.publication_date and item.paper.publication_date > CUTOFF for item in pack.after_cutoff)
    assert all(item.paper.publication_date for item in (*pack.before_cutoff, *pack.after_cutoff))
    late = {item.paper.id for item in pack.after_cutoff}
    shown = [find.paper_id for question in llm.questions(GroundingQuestion) for find in question.evidence]
    assert shown
    assert late.isdisjoint(shown)
    assert late.isdisjoint(reference.id for reference in evaluation.report.references)


async def test_cutoff_reads_repositories_as_of_that_day_and_hides_popularity() -> None:
    backends, llm = twin_backends()
    code = TwinCode()
    _, pack = await evaluated(replace(backends, code=code), cutoff=CUTOFF)
    before = {item.paper.title for item in pack.before_cutoff if item.kind == "code"}
    assert before
    assert {code.states[name] for name in before} == {CUTOFF}
    standings = [find.standing for question in llm.questions(EvidenceRelevanceQuestion) for find in question.evidence]
    assert not any("stars" in standing or "cited" in standing for standing in standings)


async def test_undated_pages_count_only_without_a_cutoff() -> None:
    backends = replace(twin_backends()[0], web=TwinWeb([page(1, None)]))
    _, unlimited = await evaluated(backends)
    assert [(item.kind, item.paper.publication_date) for item in unlimited.before_cutoff if item.kind == "web"] == [
        ("web", None)
    ]
    bound, pack = await evaluated(backends, cutoff=CUTOFF)
    assert not any(item.kind == "web" for item in pack.before_cutoff)
    assert dropped_counts(bound)["web page", "on the other side of the cutoff, or undated"] >= 1


async def test_page_stating_a_date_after_the_cutoff_is_excluded() -> None:
    shown = page(1, CUTOFF - DAY)
    newer = WebPage(url=shown.url, title="Newer", site="x", text="It is newer than it looks.", published=CUTOFF + DAY)
    backends = replace(twin_backends()[0], web=TwinWeb([shown], {shown.url: newer}))
    _, pack = await evaluated(backends, cutoff=CUTOFF)
    assert not any(item.kind == "web" for item in pack.before_cutoff)


async def test_page_of_the_idea_itself_is_excluded() -> None:
    own = WebResult(title=f"[2401.1] {IDEA.title.upper()} | arXiv", url="https://own.example.org/", snippet="")
    evaluation, pack = await evaluated(replace(twin_backends()[0], web=TwinWeb([own, PAGES[0]])))
    assert [item.paper.url for item in pack.before_cutoff if item.kind == "web"] == [PAGES[0].url]
    assert dropped_counts(evaluation)["web page", "belongs to the idea itself"] == 1


async def test_current_repository_descriptions_are_hidden_when_a_cutoff_applies() -> None:
    backends, llm = twin_backends()
    described = [
        item.model_copy(update={"description": "Now with results of later work.", "topics": ("later",)})
        for item in REPOSITORIES
    ]
    _, pack = await evaluated(replace(backends, code=TwinCode(described)), cutoff=CUTOFF)
    assert any(item.kind == "code" for item in pack.before_cutoff)
    assert not any("results of later work" in item.paper.abstract for item in pack.before_cutoff)
    shown = [(name, question.model_dump_json()) for name, question in llm.asked]
    earlier = [text for name, text in shown if name == "innoeval.grounding"]
    assert earlier
    assert not any("results of later work" in text for text in earlier)
    _, unlimited = await evaluated(replace(twin_backends()[0], code=TwinCode(described)))
    assert any("results of later work" in item.paper.abstract for item in unlimited.before_cutoff)


async def test_report_warns_that_pages_may_have_changed_after_the_cutoff() -> None:
    evaluation, pack = await evaluated(twin_backends()[0], cutoff=CUTOFF)
    pages = sum(item.kind == "web" for item in pack.before_cutoff)
    assert pages
    (told,) = [notice.text for notice in evaluation.report.notices if notice.kind == "undated_version"]
    assert f"{pages} web pages" in told
    unlimited, _ = await evaluated(twin_backends()[0])
    assert not any(notice.kind == "undated_version" for notice in unlimited.report.notices)
