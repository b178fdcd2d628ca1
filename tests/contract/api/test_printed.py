"""Briefs and dossiers over HTTP: what stands in them, and who may read what."""

from pathlib import Path

from tests.contract.api.commands import Program
from tests.contract.api.evaluated_calls import NO_SCORE_REASON, TITLES, call_with_reports
from tests.contract.api.people import add_person
from tests.contract.api.service import OTHER, Service, serve
from tests.contract.pdf_files import read_pdf_text


async def test_proposal_brief_is_a_pdf_and_requires_a_report(service: Service) -> None:
    call = await call_with_reports(service)
    rows = (await service.machine.get(f"/v1/evaluations?batch={call}")).json()["items"]
    ids = {row["title"]: row["id"] for row in rows}
    answer = await service.machine.get(f"/v1/evaluations/{ids[TITLES[0]]}/brief")
    missing = await service.machine.get(f"/v1/evaluations/{ids[TITLES[3]]}/brief")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert answer.headers["content-disposition"] == f'inline; filename="{ids[TITLES[0]]}-brief.pdf"'
    assert "70 of 100" in read_pdf_text(answer.content)
    assert missing.status_code == 409


async def test_call_dossier_lists_proposals_by_score_with_unscored_and_rejected_rows(service: Service) -> None:
    call = await call_with_reports(service)
    answer = await service.machine.get(f"/v1/batches/{call}/dossier")
    text = read_pdf_text(answer.content)
    assert "Spring" in text
    places = [text.index(title) for title in TITLES]
    assert places == sorted(places)
    assert f"no score: {NO_SCORE_REASON}" in text
    assert "It cannot be read" in text
    assert "call.csv:5" in text
    assert "People" not in text


async def test_dossier_shows_opinions_to_officers_and_is_refused_to_others(service: Service) -> None:
    call = await call_with_reports(service)
    officer = await add_person(service, "officer")
    assert "Reviews" in read_pdf_text((await officer.get(f"/v1/batches/{call}/dossier")).content)
    reviewer = await add_person(service, "reviewer", "Bea Stone")
    assert (await reviewer.get(f"/v1/batches/{call}/dossier")).status_code == 403
    async with service.open_caller(tenant=OTHER) as other_tenant:
        assert (await other_tenant.get(f"/v1/batches/{call}/dossier")).status_code == 404


async def test_fetch_command_saves_briefs_and_dossier(service: Service, tmp_path: Path) -> None:
    call = await call_with_reports(service)
    key = await service.create_key("read")
    async with serve(service.app) as url:
        result = await Program(url, key, tmp_path).run("batch", "fetch", call, "--format", "pdf")
    assert result.code == 0, result.err
    *briefs, dossier, index = [tmp_path / line for line in result.out.split()]
    assert (dossier.name, index.name) == (f"{call}.pdf", "index.html")
    assert len(briefs) == 3
    assert all(path.read_bytes().startswith(b"%PDF-") for path in (dossier, *briefs))
