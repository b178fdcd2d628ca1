"""Page for an applicant who contests: each fact once and by name, technical detail at the end."""

from assayer.models import Absent
from assayer.reports.contestation import build_contestation
from assayer.reports.contestation_page import ContestationPage, build_contestation_page
from assayer.reports.prompt_wording import QUESTIONS
from tests.unit.all_questions import all_tasks
from tests.unit.reports_fixture import full_report


def _page() -> ContestationPage:
    return build_contestation_page(build_contestation(full_report(), "ev_1"))


def _plain(page: ContestationPage) -> str:
    """All that stands before the technical part."""
    return "\n".join(
        [page.subtitle, *(f"{section.title}\n{section.lead}" for section in page.sections)]
        + [f"{line.name}: {line.text}" for section in page.sections for line in section.lines]
    )


def _technical(page: ContestationPage) -> str:
    return "\n".join(f"{line.name}: {line.text}" for item in page.technical for line in item.lines)


def test_technical_details_appear_only_in_technical_section() -> None:
    what, page = build_contestation(full_report(), "ev_1"), _page()
    fit = what.corpus_fit
    assert not isinstance(fit, Absent)
    for detail in (what.text_sha256, what.corpus_version, what.embedding_model, fit.criterion, "ev_1"):
        assert detail in _technical(page)
        assert detail not in _plain(page)
    for word in ("cosine", "SHA", "digest", "token", "embedding", "scholareval."):
        assert word not in _plain(page)


def test_source_is_listed_once_with_all_its_operations() -> None:
    names = [line.name for section in _page().sections for line in section.lines]
    assert names.count("The corpus") == 1
    asked = next(line.text for item in _page().sections for line in item.lines if line.name == "The corpus")
    assert asked == "queried 19 times: paper search, passage search, similar papers"


def test_start_time_appears_only_in_technical_section_with_label() -> None:
    page, begun = _page(), full_report().usage.started_at
    assert f"{begun:%H:%M}" not in _plain(page)
    assert f"Evaluation started: {begun:%Y-%m-%d %H:%M} UTC" in _technical(page)


def test_every_llm_task_has_a_human_readable_description() -> None:
    names = {name for name in all_tasks() if not name.startswith(("ranking.", "curation.", "corpus."))}
    assert len(names) > 20
    assert names == QUESTIONS.keys()
