"""A call of documents that is cancelled and run again, over HTTP: reports come, and then the documents go."""

from pathlib import Path

from cluster.settings import Settings
from orchestrator.settings import BatchSettings
from simulator.process import Simulator
from tests.contract.office_files import word
from tests.contract.pdf_files import pdf
from tests.contract.service.caller import IDEA
from tests.contract.service.running_service import running_service, sent_requests
from tests.polling import wait_until_async


def documents() -> list[tuple[str, tuple[str, bytes]]]:
    """Return two documents with different words.

    With the same words, the second would wait for the answers that the first requests."""
    words = IDEA.split()
    lines = [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]
    printed = pdf([("F2", 18.0, "Quote, then abstain"), *(("F1", 11.0, line) for line in lines)])
    written = word("".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in ("In Word", *IDEA.splitlines())))
    return [("file", ("one.pdf", printed)), ("file", ("two.docx", written))]


async def test_cancelled_document_call_is_retried_and_documents_are_deleted(
    settings: Settings, simulator: Simulator, tmp_path: Path
) -> None:
    folder = tmp_path / "submissions"
    settings = settings.model_copy(update={"batches": BatchSettings(documents=str(folder))})
    simulator.configure(latency_mean=60)
    async with running_service(settings) as world:
        client, database = world.caller.client, world.service.database
        batch = (await client.post("/v1/batches", files=documents())).json()["id"]
        await wait_until_async(sent_requests(simulator), lambda sent: sent >= 1)
        cancelled = (await client.delete(f"/v1/batches/{batch}")).json()
        await wait_until_async(world.taken, lambda taken: taken == 0)
        assert cancelled["states"] == {"cancelled": 2}

        simulator.configure(latency_mean=0)
        answer = await client.post(f"/v1/batches/{batch}/retry")
        assert answer.status_code == 202, answer.text
        assert (answer.json()["retried"], answer.json()["unreadable"]) == (2, 0)
        rows = (await client.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
        ended = [await world.caller.ended(row["id"]) for row in rows]
        reports = [(await world.caller.report(row["id"])).json() for row in rows]
        await wait_until_async(
            lambda: database.fetch("SELECT FROM document_files UNION ALL SELECT FROM jobs WHERE document IS NOT NULL"),
            lambda left: not left,
        )
    assert [item["state"] for item in ended] == ["succeeded", "succeeded"]
    assert {report["idea"]["source"] for report in reports} == {"one.pdf", "two.docx"}
    assert all("abstain where it does not" in " ".join(report["idea"]["text"].split()) for report in reports)
    assert [file for file in folder.rglob("*") if file.is_file()] == []
