"""Page for an applicant who contests: each fact once and by name, technical detail at the end."""

from assayer.models import Absent
from assayer.reports.contestation import build_contestation
from assayer.reports.contestation_page import ContestationPage, build_contestation_page
from assayer.reports.prompt_wording import QUESTIONS
from tests.unit.all_questions import list_all_tasks
from tests.unit.reports_fixture import make_full_report


def make_page() -> ContestationPage:
    return build_contestation_page(build_contestation(make_full_report(), "ev_1"))


def render_plain_part(page: ContestationPage) -> str:
    """Return all text before the technical part."""
    return "\n".join(
        [page.subtitle, *(f"{section.title}\n{section.lead}" for section in page.sections)]
        + [f"{line.name}: {line.text}" for section in page.sections for line in section.lines]
    )


def render_technical_part(page: ContestationPage) -> str:
    return "\n".join(f"{line.name}: {line.text}" for item in page.technical for line in item.lines)


def test_technical_details_appear_only_in_technical_section() -> None:
    contestation, page = build_contestation(make_full_report(), "ev_1"), make_page()
    fit = contestation.corpus_fit
    assert not isinstance(fit, Absent)
    for detail in (
        contestation.text_sha256,
        contestation.corpus_version,
        contestation.embedding_model,
        fit.criterion,
        "ev_1",
    ):
        assert detail in render_technical_part(page)
        assert detail not in render_plain_part(page)
    for word in ("cosine", "SHA", "digest", "token", "embedding", "scholareval."):
        assert word not in render_plain_part(page)


def test_source_is_listed_once_with_all_its_operations() -> None:
    names = [line.name for section in make_page().sections for line in section.lines]
    assert names.count("The corpus") == 1
    operations = next(line.text for item in make_page().sections for line in item.lines if line.name == "The corpus")
    assert operations == "queried 19 times: paper search, passage search, similar papers"


def test_start_time_appears_only_in_technical_section_with_label() -> None:
    page, started_at = make_page(), make_full_report().usage.started_at
    assert f"{started_at:%H:%M}" not in render_plain_part(page)
    assert f"Evaluation started: {started_at:%Y-%m-%d %H:%M} UTC" in render_technical_part(page)


def test_every_llm_task_has_a_human_readable_description() -> None:
    names = {name for name in list_all_tasks() if not name.startswith(("ranking.", "curation.", "corpus."))}
    assert len(names) > 20
    assert names == QUESTIONS.keys()
