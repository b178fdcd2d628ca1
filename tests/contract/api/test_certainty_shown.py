"""Certainty, which ScholarEval gives for single methods and dimensions: no empty column, and told where it is known."""

from collections.abc import Sequence

from assayer.models import Absent, Part, Score, ScoreCertainty
from tests.contract.api.console_forms import open_session
from tests.contract.api.evaluated_calls import EMPTY_SUMMARY, call_with_reports
from tests.contract.api.people import add_person, call_of
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import Service
from tests.contract.pdf_files import read_pdf_text
from tests.contract.store_records import report
from tests.unit.reports_fixture import make_full_report

WHY = "No method could be scored."


async def evaluate_with_scores(service: Service, scores: Sequence[Score | Absent]) -> tuple[str, list[str]]:
    """A call whose reports score one part so, with the assessments of the full report."""
    batch, jobs = await call_of(service, *(f"# Idea {place}" for place in range(len(scores))))
    for score in scores:
        assessments = () if isinstance(score, Absent) else make_full_report().parts[0].assessments
        part = Part(name="soundness", title="Soundness", score=score, summary=EMPTY_SUMMARY, assessments=assessments)
        report_with_part = report("run").model_copy(update={"parts": (part,)})
        await finish_with_report(service, await service.lease_next(), report_with_part)
    return batch, jobs


def _build_mean(certainty: ScoreCertainty | None = None) -> Score:
    return Score(value=5.6, basis="Mean over 2 of 2 methods.", certainty=certainty)


async def test_certainty_column_is_hidden_when_empty_and_replaced_by_a_note(service: Service) -> None:
    batch, jobs = await evaluate_with_scores(service, [_build_mean(), _build_mean(), Absent(reason=WHY)])
    known = await call_with_reports(service)
    owner = await add_person(service, "owner")
    async with open_session(service, owner.key) as reads:
        text = (await reads.get(f"/console/calls/{batch}")).text
        with_it = (await reads.get(f"/console/calls/{known}")).text
        compared = (await reads.get(f"/console/compare?id={jobs[0]}&id={jobs[1]}")).text
        proposal = (await reads.get(f"/console/proposals/{jobs[0]}")).text
    papers = [read_pdf_text((await owner.get(f"/v1/batches/{item}/dossier")).content) for item in (batch, known)]
    assert "sort=certainty" not in text
    assert "each proposal’s page gives it for individual methods and dimensions" in text
    assert "sort=certainty" in with_it
    assert "states a certainty for the overall score" not in with_it
    assert "Certainty" not in compared
    certainty_sentence = "Of 3 scores in this part: 1 with moderate certainty, 2 without stated certainty."
    assert certainty_sentence in " ".join(proposal.split())
    assert ["Certainty" in paper for paper in papers] == [False, True]
