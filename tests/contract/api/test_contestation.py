"""Documents an applicant gets for contesting: as JSON, PDF and page, without anything of what reviewers think."""

import hashlib
from pathlib import Path

from assayer.reports.contestation import build_contestation
from assayer_client.contestation import Contestation
from tests.contract.api.commands import Program
from tests.contract.api.reported_evaluations import store_full_report
from tests.contract.api.service import Service, serve
from tests.contract.pdf_files import read_pdf_text
from tests.unit.reports_fixture import make_full_report


def test_contestation_contains_a_verifiable_text_digest() -> None:
    report = make_full_report()
    contestation = build_contestation(report, "ev_1")
    assert contestation.text_sha256 == hashlib.sha256(report.idea.text.encode()).hexdigest()
    assert contestation.prompts == report.provenance.prompts
    assert contestation.blinding == report.idea.blinding
    assert [paper.label for paper in contestation.papers] == [reference.label for reference in report.references]


async def test_contestation_is_available_as_json_and_pdf(service: Service) -> None:
    job, report = await store_full_report(service), make_full_report()
    answer = (await service.machine.get(f"/v1/evaluations/{job}/contestation")).json()
    pdf = await service.machine.get(f"/v1/evaluations/{job}/contestation?format=pdf")
    await service.machine.post(f"/v1/evaluations/{job}/override", json={"score": 1, "reason": "No."})
    assert answer["evaluation"] == job
    assert answer["corpus_version"] == report.provenance.corpus_version
    assert [item["digest"] for item in answer["prompts"]] == [item.digest for item in report.provenance.prompts]
    text = read_pdf_text(pdf.content)
    for prompt in report.provenance.prompts:
        assert f"version {prompt.version}" in text
    assert report.references[0].title in text
    assert "What was masked" in text


async def test_command_saves_the_contestation(service: Service, tmp_path: Path) -> None:
    job = await store_full_report(service)
    async with serve(service.app) as url:
        saved = await Program(url, await service.create_key("read"), tmp_path).run("batch", "contestation", job)
    assert saved.code == 0, saved.err
    pdf, text_path = [tmp_path / line for line in saved.out.split()]
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert Contestation.model_validate_json(text_path.read_text("utf-8")).title == make_full_report().idea.title
