"""`assayer batch fetch`: cut and continued, reports that were deleted, and tables that lead to reports."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from assayer_client import Client, RetryPolicy, ServiceUnreachable
from cluster.cli.batch import fetch as command
from cluster.cli.batch.fetch_record import FetchRecord
from tests.contract.api.commands import Program
from tests.contract.api.service import TEXT, Service, serve

ROWS = "id,title,text\n" + "".join(f'A-{n},Plan {n},"{TEXT} {n}"\n' for n in range(1, 5))


async def call_of_four(service: Service) -> str:
    answer = await service.machine.post("/v1/batches", files=[("file", ("call.csv", ROWS.encode()))])
    for _ in range(4):
        await service.finish()
    return str(answer.json()["id"])


class Counting(httpx2.HTTPTransport):
    """Transport that counts reports, and loses the connection before one of them."""

    def __init__(self, max_reports: int = 100) -> None:
        super().__init__()
        self.asked, self._most = 0, max_reports

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/report"):
            if self.asked == self._most:
                raise httpx2.ConnectError("The service is gone.", request=request)
            self.asked += 1
        return super().handle_request(request)


async def test_interrupted_fetch_resumes_with_the_missing_reports(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch, key = await call_of_four(service), await service.create_key()
    formats = [command.FetchFormat.html, command.FetchFormat.md]
    async with serve(service.app) as url:

        def prepare_fetch(counting: Counting, *, anew: bool = False) -> Callable[[], list[Path]]:
            def fetched() -> list[Path]:
                record = FetchRecord(tmp_path, batch, anew=anew)
                with Client(url, key, transport=counting, retries=RetryPolicy(attempts=1)) as client:
                    report_list = command.fetch_reports_of_batch(client, batch, tmp_path, formats, record)
                return [file for item in report_list for file in item.files]

            return fetched

        interrupted = Counting(max_reports=5)
        with pytest.raises(ServiceUnreachable):
            await asyncio.to_thread(prepare_fetch(interrupted))
        assert f"2 of 4 reports are in {tmp_path}. Run the same command to continue." in capsys.readouterr().err
        (tmp_path / "A-1.md").write_text("cut in the middle")
        remaining = Counting()
        files = await asyncio.to_thread(prepare_fetch(remaining))
        assert remaining.asked == 4, "three that were missing, and the one that is not as it was"
        assert "1 of 4 reports were already in" in capsys.readouterr().err
        assert {file.name for file in files} == {f"A-{n}.{kind}" for n in range(1, 5) for kind in ("html", "md")}
        assert all(file.read_text("utf-8").lstrip().startswith(("<!", "# ")) for file in files)
        unchanged, complete = Counting(), Counting()
        await asyncio.to_thread(prepare_fetch(unchanged))
        await asyncio.to_thread(prepare_fetch(complete, anew=True))
        assert (unchanged.asked, complete.asked) == (0, 8)


def test_fetch_record_ignores_damaged_lines_and_missing_files(tmp_path: Path) -> None:
    file = tmp_path / "A-1.html"
    file.write_text("whole")
    FetchRecord(tmp_path, "bt_1").add("ev_1", file)
    lines = tmp_path / ".fetched-bt_1.jsonl"
    lines.write_text(lines.read_text() + '[1]\n{"id": "ev_2", "file": "A-1.html", "by')
    record = FetchRecord(tmp_path, "bt_1")
    assert (record.has("ev_1", file), record.has("ev_2", file)) == (True, False)
    assert not FetchRecord(tmp_path, "bt_2").has("ev_1", file), "the same name in another call is another report"
    file.unlink()
    assert not record.has("ev_1", file)


async def test_deleted_report_does_not_stop_fetching_the_others(service: Service, tmp_path: Path) -> None:
    batch = await call_of_four(service)
    deleted = await service.database.fetch(
        'DELETE FROM evaluations WHERE id IN (SELECT run_id FROM jobs WHERE "row" = 2) RETURNING id'
    )
    assert len(deleted) == 1
    async with serve(service.app) as url:
        result = await Program(url, await service.create_key(), tmp_path).run("batch", "fetch", batch, "--format", "md")
    assert result.code == 0, result.err
    assert "Row 2 (Plan 2, " in result.err
    assert "its report has been deleted" in result.err
    assert sorted(file.name for file in (tmp_path / "out").glob("A-*")) == ["A-1.md", "A-3.md", "A-4.md"]
