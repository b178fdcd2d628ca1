"""Documents of a call that is cancelled, over HTTP: read by another run, and deleted by erasure or by the setting."""

from pathlib import Path

from cluster.settings import Settings
from orchestrator.settings import BatchSettings
from simulator.process import Simulator
from tests.contract.office_files import word
from tests.contract.pdf_files import pdf
from tests.contract.service.caller import IDEA
from tests.contract.service.running_service import RunningService, count_sent_requests, run_service
from tests.polling import wait_until_async


def build_documents() -> list[tuple[str, tuple[str, bytes]]]:
    """Return two documents with different words.

    With the same words, the second would wait for the answers that the first requests."""
    words = IDEA.split()
    lines = [" ".join(words[start : start + 9]) for start in range(0, len(words), 9)]
    printed = pdf([("F2", 18.0, "Quote, then abstain"), *(("F1", 11.0, line) for line in lines)])
    written = word("".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in ("In Word", *IDEA.splitlines())))
    return [("file", ("one.pdf", printed)), ("file", ("two.docx", written))]


def list_stored_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


async def cancel_call(world: RunningService, simulator: Simulator) -> str:
    """Cancel a call of two documents while they are evaluated, and return its id."""
    simulator.configure(latency_mean=60)
    batch = str((await world.caller.client.post("/v1/batches", files=build_documents())).json()["id"])
    await wait_until_async(count_sent_requests(simulator), lambda request_count: request_count >= 1)
    cancelled = (await world.caller.client.delete(f"/v1/batches/{batch}")).json()
    await wait_until_async(world.count_running_jobs, lambda running_count: running_count == 0)
    assert cancelled["states"] == {"cancelled": 2}
    return batch


async def test_cancelled_document_call_is_retried_and_its_erasure_deletes_the_documents(
    settings: Settings, simulator: Simulator, tmp_path: Path
) -> None:
    settings = settings.model_copy(update={"batches": BatchSettings(documents=str(tmp_path / "submissions"))})
    async with run_service(settings) as world:
        client = world.caller.client
        batch = await cancel_call(world, simulator)
        simulator.configure(latency_mean=0)
        answer = await client.post(f"/v1/batches/{batch}/retry")
        assert answer.status_code == 202, answer.text
        assert (answer.json()["retried"], answer.json()["unreadable"]) == (2, 0)
        rows = (await client.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
        evaluations = [await world.caller.wait_until_ended(row["id"]) for row in rows]
        reports = [(await world.caller.fetch_report(row["id"])).json() for row in rows]
        assert len(list_stored_files(tmp_path / "submissions")) == 2, "documents stay as long as their evaluations"
        response = await client.post("/v1/erasures", json={"batch": batch})
        assert response.status_code == 200, response.text
        assert list_stored_files(tmp_path / "submissions") == []
    assert [item["state"] for item in evaluations] == ["succeeded", "succeeded"]
    assert {report["idea"]["source"] for report in reports} == {"one.pdf", "two.docx"}
    assert all("abstain where it does not" in " ".join(report["idea"]["text"].split()) for report in reports)


async def test_documents_of_a_cancelled_call_are_deleted_when_none_are_kept(
    settings: Settings, simulator: Simulator, tmp_path: Path
) -> None:
    batches = BatchSettings(documents=str(tmp_path / "submissions"), document_days=0)
    settings = settings.model_copy(update={"batches": batches})
    async with run_service(settings) as world:
        batch = await cancel_call(world, simulator)
        # The file is deleted before the database forgets it.
        await wait_until_async(
            lambda: world.service.database.fetch("SELECT FROM document_files"), lambda recorded: not recorded
        )
        answer = (await world.caller.client.post(f"/v1/batches/{batch}/retry")).json()
    assert list_stored_files(tmp_path / "submissions") == []
    assert (answer["retried"], answer["unreadable"]) == (0, 2)
