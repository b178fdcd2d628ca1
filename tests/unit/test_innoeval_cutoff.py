"""InnoEval: what is read as of the cutoff, and what came later."""

from dataclasses import replace

from assayer.methods.innoeval.schemas import EvidenceRelevanceQuestion, GroundingQuestion
from assayer.models import WebPage, WebResult
from tests.unit.innoeval_runs import count_dropped, evaluate_idea, make_twin_backends
from tests.unit.innoeval_world import CUTOFF, DAY, IDEA, PAGES, REPOSITORIES, TwinCode, TwinWeb, make_page


async def test_sources_after_the_cutoff_are_separated_and_never_grounded() -> None:
    backends, llm = make_twin_backends()
    evaluation, pack = await evaluate_idea(backends, cutoff=CUTOFF)
    assert all(item.paper.publication_date and item.paper.publication_date <= CUTOFF for item in pack.before_cutoff)
    assert {item.kind for item in pack.after_cutoff} == {"literature", "web", "code"}
    assert all(item.paper.publication_date and item.paper.publication_date > CUTOFF for item in pack.after_cutoff)
    assert all(item.paper.publication_date for item in (*pack.before_cutoff, *pack.after_cutoff))
    late = {item.paper.id for item in pack.after_cutoff}
    shown_papers = [find.paper_id for question in llm.list_questions(GroundingQuestion) for find in question.evidence]
    assert shown_papers
    assert late.isdisjoint(shown_papers)
    assert late.isdisjoint(reference.id for reference in evaluation.report.references)


async def test_cutoff_reads_repositories_as_of_that_day_and_hides_popularity() -> None:
    backends, llm = make_twin_backends()
    code = TwinCode()
    _, pack = await evaluate_idea(replace(backends, code=code), cutoff=CUTOFF)
    before = {item.paper.title for item in pack.before_cutoff if item.kind == "code"}
    assert before
    assert {code.states[name] for name in before} == {CUTOFF}
    standings = [
        find.standing for question in llm.list_questions(EvidenceRelevanceQuestion) for find in question.evidence
    ]
    assert not any("stars" in standing or "cited" in standing for standing in standings)


async def test_undated_pages_count_only_without_a_cutoff() -> None:
    backends = replace(make_twin_backends()[0], web=TwinWeb([make_page(1, None)]))
    _, unlimited = await evaluate_idea(backends)
    assert [(item.kind, item.paper.publication_date) for item in unlimited.before_cutoff if item.kind == "web"] == [
        ("web", None)
    ]
    bound, pack = await evaluate_idea(backends, cutoff=CUTOFF)
    assert not any(item.kind == "web" for item in pack.before_cutoff)
    assert count_dropped(bound)["web page", "on the other side of the cutoff, or undated"] >= 1


async def test_page_stating_a_date_after_the_cutoff_is_excluded() -> None:
    early_page = make_page(1, CUTOFF - DAY)
    newer = WebPage(
        url=early_page.url, title="Newer", site="x", text="It is newer than it looks.", published=CUTOFF + DAY
    )
    backends = replace(make_twin_backends()[0], web=TwinWeb([early_page], {early_page.url: newer}))
    _, pack = await evaluate_idea(backends, cutoff=CUTOFF)
    assert not any(item.kind == "web" for item in pack.before_cutoff)


async def test_page_of_the_idea_itself_is_excluded() -> None:
    own_page = WebResult(title=f"[2401.1] {IDEA.title.upper()} | arXiv", url="https://own.example.org/", snippet="")
    evaluation, pack = await evaluate_idea(replace(make_twin_backends()[0], web=TwinWeb([own_page, PAGES[0]])))
    assert [item.paper.url for item in pack.before_cutoff if item.kind == "web"] == [PAGES[0].url]
    assert count_dropped(evaluation)["web page", "belongs to the idea itself"] == 1


async def test_current_repository_descriptions_are_hidden_when_a_cutoff_applies() -> None:
    backends, llm = make_twin_backends()
    described = [
        item.model_copy(update={"description": "Now with results of later work.", "topics": ("later",)})
        for item in REPOSITORIES
    ]
    _, pack = await evaluate_idea(replace(backends, code=TwinCode(described)), cutoff=CUTOFF)
    assert any(item.kind == "code" for item in pack.before_cutoff)
    assert not any("results of later work" in item.paper.abstract for item in pack.before_cutoff)
    questions = [(name, question.model_dump_json()) for name, question in llm.requests]
    grounding_texts = [text for name, text in questions if name == "innoeval.grounding"]
    assert grounding_texts
    assert not any("results of later work" in text for text in grounding_texts)
    _, unlimited = await evaluate_idea(replace(make_twin_backends()[0], code=TwinCode(described)))
    assert any("results of later work" in item.paper.abstract for item in unlimited.before_cutoff)


async def test_report_warns_that_pages_may_have_changed_after_the_cutoff() -> None:
    evaluation, pack = await evaluate_idea(make_twin_backends()[0], cutoff=CUTOFF)
    pages = sum(item.kind == "web" for item in pack.before_cutoff)
    assert pages
    (notice_text,) = [notice.text for notice in evaluation.report.notices if notice.kind == "undated_version"]
    assert f"{pages} web pages" in notice_text
    unlimited, _ = await evaluate_idea(make_twin_backends()[0])
    assert not any(notice.kind == "undated_version" for notice in unlimited.report.notices)
