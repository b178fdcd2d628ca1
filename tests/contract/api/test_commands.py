"""The commands over the service, as processes."""

import asyncio
import csv
import datetime as dt
import io
import json
import re
import signal
from pathlib import Path
from typing import Any

from orchestrator.jobs.models import Problem, TenantPlan
from orchestrator.jobs.requests import RankingRequest
from orchestrator.store import PgJobs
from orchestrator.store.migrator import get_latest_revision
from tests.contract.api.commands import Program
from tests.contract.api.comparison_jobs import finish_comparison
from tests.contract.api.service import ACME, TEXT, Service
from tests.contract.office_files import word


async def test_idea_is_submitted_watched_and_fetched_and_its_timeline_drawn(program: Program, service: Service) -> None:
    submitted = await program.run("batch", "submit", "ideas/risk.txt", "--method", "grapheval")
    assert submitted.code == 0, submitted.err
    job = submitted.out.strip()
    assert job.startswith("ev_")
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(program.run("batch", "watch", job))
        await service.finish()
    assert watching.result().code == 0
    assert "has succeeded" in watching.result().err
    fetch_result = await program.run("batch", "fetch", job, "--format", "md", "--format", "json")
    assert fetch_result.out.split() == [f"out/{job}.md", f"out/{job}.json"]
    assert (program.home / "out" / f"{job}.md").read_text().startswith("# ")
    timeline_result = await program.run("batch", "timeline", job)
    assert timeline_result.code == 0, timeline_result.err
    assert "in the queue" in timeline_result.out
    assert "━" in timeline_result.out


async def test_watch_reports_a_failed_ranking(program: Program, service: Service) -> None:
    async with service.open_client(program.key, program.url) as client:
        ideas = [{"title": f"Plan {number}", "text": f"{TEXT} {number}"} for number in range(2)]
        job = (await client.post("/v1/rankings", json={"ideas": ideas})).json()["id"]
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(program.run("batch", "watch", job))
        await service.finish(Problem(type="x", title="It failed", detail="Because."))
    assert watching.result().code == 1
    progress_lines = watching.result().err.splitlines()
    assert progress_lines[0] == f"{job} (2 proposals) is queued"
    assert progress_lines[-1] == f"{job} (2 proposals) has failed: It failed. Because."


async def test_shortlist_ranks_only_ideas_that_have_reports(program: Program, service: Service) -> None:
    (program.home / "call.jsonl").write_text("".join(json.dumps({"text": f"{TEXT} {n}"}) + "\n" for n in range(4)))
    batch = (await program.run("batch", "submit", "call.jsonl")).out.strip()
    early = await program.run("batch", "shortlist", batch, "--shortlist-size", "1")
    assert (early.code, early.out) == (2, "")
    assert "has not finished" in early.err
    await service.finish(Problem(type="x", title="It failed", detail="Because."))
    for _ in range(3):
        await service.finish()
    # The fixture writes the same report for every row.
    await service.database.execute(
        "UPDATE evaluations SET report = jsonb_set(report, '{idea,id}', to_jsonb(evaluations.id)) "
        "WHERE id IN (SELECT run_id FROM jobs)"
    )
    shortlist_result = await program.run(
        "batch", "shortlist", batch, "--shortlist-size", "1", "--comparisons-per-idea", "2"
    )
    assert shortlist_result.code == 0, shortlist_result.err
    assert re.search(r"^Not ranked: call.jsonl:\d \(row \d\): It failed$", shortlist_result.err, re.MULTILINE)
    assert "3 ideas will be compared" in shortlist_result.err
    lease = await service.lease_next()
    assert isinstance(lease.request, RankingRequest)
    assert shortlist_result.out.strip() == lease.job
    assert (lease.request.shortlist_size, lease.request.comparisons_per_idea, len(lease.request.ideas)) == (1, 2, 3)


async def test_oversized_folder_is_uploaded_in_parts_as_a_single_batch(program: Program, service: Service) -> None:
    folder = program.home / "many"
    folder.mkdir()
    for name in ("a", "c"):
        (folder / f"{name}.pdf").write_bytes(b"\0" * 25_000_000)  # no PDF: refused, and not stored
    for name in ("b", "d"):
        (folder / f"{name}.txt").write_text(f"{TEXT} {name}")
    result = await program.run("batch", "submit", folder, "--name", "Call")
    assert result.code == 0, result.err
    (batch,) = await service.services.jobs.list_batches(ACME)
    assert (result.out.strip(), batch.name, batch.rows, batch.counts) == (batch.id, "Call", 4, {"queued": 2})
    assert not batch.open
    assert [row.source for row in batch.rejected] == ["a.pdf", "c.pdf"]
    assert "2 of 4 rows were accepted" in result.err
    jobs = await service.services.jobs.list(ACME, batch=batch.id)
    assert sorted(job.row or 0 for job in jobs) == [2, 4]


async def test_folder_becomes_a_batch_and_unusable_file_is_named(program: Program, service: Service) -> None:
    async with asyncio.TaskGroup() as group, service.services.listener.subscribe("assayer_jobs") as notifications:
        submitting = group.create_task(program.run("batch", "submit", "ideas", "--name", "Call", "--wait"))
        while not await service.database.fetch("SELECT 1 FROM jobs"):
            await notifications.next(5)
        await service.finish(Problem(type="x", title="It failed", detail="Because."))
    result = submitting.result()
    batch = result.out.strip()
    assert batch.startswith("bt_")
    assert "bad.pdf" in result.err
    assert "1 failed, 1 refused" in result.err
    assert result.code == 1
    fetch_result = await program.run("batch", "fetch", batch, "--format", "csv")
    assert (program.home / "out" / f"{batch}.csv").is_file(), fetch_result.err


async def test_rewards_job_is_cancelled_and_watch_reports_it(program: Program, service: Service) -> None:
    item = {"question": "Why?", "idea": "We ask.", "abstract": "We asked."}
    job = (await service.machine.post("/v1/rewards", json={"items": [item]})).json()["id"]
    cancelled = await program.run("batch", "cancel", job)
    assert (cancelled.code, cancelled.err.strip()) == (0, f"{job}: cancelled.")
    watch_result = await program.run("batch", "watch", job)
    assert (watch_result.code, "(1 item) was cancelled" in watch_result.err) == (1, True)


async def test_fetch_of_a_cancelled_evaluation_explains_the_missing_report(program: Program) -> None:
    job = (await program.run("batch", "submit", "ideas/risk.txt")).out.strip()
    cancelled = await program.run("batch", "cancel", job)
    assert (cancelled.code, cancelled.err.strip()) == (0, f"{job}: cancelled.")
    fetch_result = await program.run("batch", "fetch", job)
    assert fetch_result.code == 2
    assert "cancelled" in fetch_result.err
    assert len(fetch_result.err.strip().splitlines()) == 1


async def test_command_errors_are_a_single_line_with_exit_code_2(program: Program) -> None:
    cases: list[tuple[tuple[str, ...], dict[str, str], str]] = [
        (("batch", "submit", "ideas/none.txt"), {}, "not a file or folder"),
        (("batch", "submit", "ideas/bad.pdf"), {}, "not a PDF"),
        (("batch", "watch", "ev_00000000000000000000000000"), {}, "404"),
        (("batch", "cancel", "ev_1"), {"ASSAYER_API_KEY": ""}, "No API key"),
        (("batch", "cancel", "zz_1"), {}, "not an id"),
        (("batch", "cancel", "ev_1"), {"ASSAYER_API_URL": "nowhere"}, "not a valid service URL"),
    ]
    outcomes = await asyncio.gather(*(program.run(*arguments, **settings) for arguments, settings, _ in cases))
    for (arguments, _, expected_text), result in zip(cases, outcomes, strict=True):
        assert result.code == 2, (arguments, result)
        assert expected_text in result.err
        assert len(result.err.strip().splitlines()) == 1, result.err


async def test_tenant_and_key_commands_use_the_configured_database(program: Program, database_url: str) -> None:
    on = {"ASSAYER_DATABASE__URL": database_url}
    tenant_result = await program.run("admin", "tenants", "create", "lab", "--monthly-usd", "20", "--json", **on)
    assert json.loads(tenant_result.out)["monthly_usd"] == 20
    key_result, tenants, changed, unknown_result = await asyncio.gather(
        program.run("admin", "keys", "create", "ci", "--tenant", "lab", **on),
        program.run("admin", "tenants", "set", "lab", "--weight", "2", **on),
        program.run("admin", "tenants", "set", "lab", "--max-queued", "7", "--json", **on),
        program.run("admin", "keys", "create", "ci", "--tenant", "nobody", **on),
    )
    secret = key_result.out.strip()
    assert secret not in key_result.err
    assert "$20.00" in tenants.out
    assert json.loads(changed.out)["max_queued"] == 7
    assert (unknown_result.code, "no tenant nobody" in unknown_result.err) == (2, True)
    submitted, listing = await asyncio.gather(
        program.run("batch", "submit", "ideas/risk.txt", ASSAYER_API_KEY=secret),
        program.run("admin", "keys", "list", "--tenant", "lab", **on),
    )
    assert submitted.code == 0, submitted.err
    assert "read, submit" in listing.out
    assert secret not in listing.out
    revoked = json.loads((await program.run("admin", "keys", "revoke", secret, "--tenant", "lab", "--json", **on)).out)
    assert (secret.startswith(revoked["id"]), revoked["tenant"], revoked["revoked"]) == (True, "lab", True)
    migrated = await program.run("admin", "migrate", "--json", **on)
    assert json.loads(migrated.out)["revision"] == get_latest_revision(), migrated.err
    assert "401" in (await program.run("batch", "cancel", submitted.out.strip(), ASSAYER_API_KEY=secret)).err


async def test_watch_reports_changes_and_names_failed_rows(program: Program, service: Service) -> None:
    (program.home / "ideas" / "second.txt").write_text(f"A second idea. {TEXT}")
    batch = (await program.run("batch", "submit", "ideas")).out.strip()
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(program.run("batch", "watch", batch))
        await service.finish(Problem(type="budget-exhausted", title="The budget is spent", detail="Raise max_usd."))
        await service.finish()
    result = watching.result()
    assert result.code == 1
    assert f"{batch}: 3 rows, " in result.err
    (row_line,) = [line for line in result.err.splitlines() if line.startswith("Row ")]
    assert re.fullmatch(r"Row \d \(.+, ev_\w+\) has failed: The budget is spent", row_line)


async def test_a_batch_without_budget_states_why_nothing_runs(program: Program, service: Service) -> None:
    await service.services.tenants.update(ACME, TenantPlan(name=ACME, monthly_usd=0.5))
    (program.home / "ideas" / "second.txt").write_text(TEXT)
    submitted = await program.run("batch", "submit", "ideas/risk.txt", "ideas/second.txt", "--max-usd", "2")
    assert "second.txt has the same text as risk.txt" in submitted.err
    batch = submitted.out.strip()
    watching = await program.start("batch", "watch", batch)
    assert watching.stderr is not None
    first_line = (await watching.stderr.readline()).decode()
    answer = (await service.machine.get(f"/v1/batches/{batch}")).json()
    assert answer["waiting_reason"].startswith("It may cost 2 USD, but only 0.50 USD remains")
    assert first_line.strip() == f"{batch}: nothing is running yet. Next: {answer['waiting_reason']}"
    await service.machine.delete(f"/v1/batches/{batch}")
    assert (await service.machine.get(f"/v1/batches/{batch}")).json()["waiting_reason"] is None
    await watching.communicate()
    assert watching.returncode == 1


async def test_interrupted_submit_explains_how_to_continue_watching(program: Program) -> None:
    process = await program.start("batch", "submit", "ideas/risk.txt", "--wait", PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    assert process.stderr is not None
    job = (await process.stdout.readline()).decode().strip()
    assert "is queued" in (await process.stderr.readline()).decode()
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    assert f"`assayer batch watch {job}`" in " ".join(err.decode().split())
    assert process.returncode == 130


async def test_submit_interrupted_between_parts_names_the_incomplete_batch(program: Program, service: Service) -> None:
    (program.home / "many").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (program.home / "many" / name).write_bytes(b'{"title": "Corals", "text": "short"}\n' + b" " * 30_000_000)
    (program.home / "many" / "a.txt").write_text(TEXT)
    process = await program.start("batch", "submit", "many", "--wait")
    assert process.stderr is not None
    assert "Refused" in (await process.stderr.readline()).decode()
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    (batch,) = await service.services.jobs.list_batches(ACME, after=None, limit=9)
    words = " ".join(err.decode().split())
    assert f"The batch {batch.id} has 1 idea; the files from b.jsonl on are missing." in words
    assert f"`assayer batch watch {batch.id}`" in words
    assert process.returncode == 130


async def test_list_shows_batches_and_evaluations_with_their_failures(program: Program, service: Service) -> None:
    batch = (await program.run("batch", "submit", "ideas")).out.strip()
    single = (await program.run("batch", "submit", "ideas/risk.txt", "--method", "grapheval")).out.strip()
    await service.finish(Problem(type="x", title="It failed", detail="Because."))
    await service.finish()
    listing = await program.run("batch", "list", COLUMNS="200")
    assert listing.code == 0, listing.err
    assert batch in listing.out
    assert single in listing.out
    assert "1 refused" in listing.out
    assert "failed: It failed" in listing.out + (await program.run("batch", "list", batch, COLUMNS="200")).out
    assert single not in (await program.run("batch", "list", batch, COLUMNS="200")).out
    only_failed = await program.run("batch", "list", "--state", "failed", COLUMNS="200")
    assert only_failed.out.count("ev_") == 1
    wrong = await program.run("batch", "list", "--state", "lost", COLUMNS="200")
    assert wrong.code != 0
    assert "'lost' is not one of 'queued', 'running'" in wrong.err


async def test_usage_command_reports_a_date_range(program: Program, service: Service) -> None:
    await program.run("batch", "submit", "ideas/risk.txt", "--method", "grapheval")
    await service.finish()
    usage_result = await program.run("batch", "usage", COLUMNS="200")
    assert usage_result.code == 0, usage_result.err
    assert "evaluation" in usage_result.out
    assert "no limit" in usage_result.out
    later_result = await program.run("batch", "usage", "--since", "2000-01-01", "--until", "2000-02-01", COLUMNS="200")
    assert "evaluation" not in later_result.out
    assert "not a date" in (await program.run("batch", "usage", "--since", "yesterday")).err


async def test_failed_evaluation_is_retried_under_its_id(program: Program, service: Service) -> None:
    batch = (await program.run("batch", "submit", "ideas")).out.strip()
    await service.finish(Problem(type="x", title="It failed", detail="Because."))
    retry_result = await program.run("batch", "retry", batch)
    assert retry_result.code == 0, retry_result.err
    assert "1 of" in retry_result.err
    await service.finish()
    async with service.open_client(program.key, program.url) as client:
        (evaluation,) = (await client.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
        assert evaluation["state"] == "succeeded"
        answer = await client.post(f"/v1/evaluations/{evaluation['id']}/retry")
        assert (answer.status_code, "The evaluation succeeded" in answer.text) == (409, True)
    result = await program.run("batch", "retry", evaluation["id"])
    assert result.code != 0
    assert "submit it again" in result.err


async def test_documents_are_retried_until_their_retention_ends(program: Program, service: Service) -> None:
    service.services.jobs = PgJobs(service.database, document_days=30)
    (program.home / "ideas" / "plan.docx").write_bytes(word("<w:p><w:r><w:t>Salt</w:t></w:r></w:p>"))
    batch = (await program.run("batch", "submit", "ideas")).out.strip()
    (call,) = await service.services.jobs.list_batches(ACME)
    accepted = call.counts["queued"]
    await program.run("batch", "cancel", batch)
    again = await program.run("batch", "retry", batch)
    assert f"{accepted} of {call.rows} rows are queued again." in again.err
    await program.run("batch", "cancel", batch)
    await service.services.jobs.delete_expired_documents(dt.datetime.now(dt.UTC) + dt.timedelta(days=31))
    later_result = await program.run("batch", "retry", batch)
    unchanged_text = "1 is unchanged because its document is no longer stored."
    assert f"{accepted - 1} of {call.rows} rows are queued again; {unchanged_text}" in later_result.err


async def test_compare_shows_evaluations_side_by_side_and_judges_them(program: Program, service: Service) -> None:
    batch = (await program.run("batch", "submit", "ideas", "--tag", "spring", "--tag", "energy")).out.strip()
    evaluation = (await program.run("batch", "submit", "ideas/risk.txt")).out.strip()
    tagged = await program.run("batch", "list", "--tag", "energy", COLUMNS="200")
    assert batch in tagged.out
    assert "#spring #energy" in tagged.out
    assert "No batch has the tag 'water'" in (await program.run("batch", "list", "--tag", "water")).err
    for _ in range(2):
        await service.finish()
    async with service.open_client(program.key, program.url) as client:
        (other_evaluation,) = (await client.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    await service.database.execute(
        "UPDATE evaluations SET report = jsonb_set(report, '{idea,id}', to_jsonb(evaluations.id))"
    )
    comparison_result = await program.run("batch", "compare", evaluation, other_evaluation["id"], COLUMNS="200")
    assert comparison_result.code == 0, comparison_result.err
    assert "Corpus fit" in comparison_result.out
    async with asyncio.TaskGroup() as group, service.services.listener.subscribe("assayer_jobs") as notifications:
        judging = group.create_task(
            program.run("batch", "compare", evaluation, other_evaluation["id"], "--judge", COLUMNS="200")
        )
        while not await service.database.fetch("SELECT 1 FROM jobs WHERE kind = 'comparison'"):
            await notifications.next(5)
        await finish_comparison(service)
    assert judging.result().code == 0, judging.result().err
    assert "asked in one order only" in judging.result().out
    assert "overall: clearer" in judging.result().out
    for wrong in (
        [evaluation],
        [evaluation, evaluation],
        [evaluation, "bt_1"],
        [evaluation, other_evaluation["id"], "ev_3", "--judge"],
    ):
        assert (await program.run("batch", "compare", *wrong)).code == 2, wrong


async def test_fetched_folder_has_an_index_page_and_table_of_all_reports(program: Program, service: Service) -> None:
    (program.home / "call.csv").write_text(
        f'id,title,text\nA-2026-0007,One,"{TEXT} 1"\nA-2026-0008,Two,"{TEXT} 2"\nA-2026-0007,Three,"{TEXT} 3"\n'
    )
    batch = (await program.run("batch", "submit", "call.csv", "ideas/risk.txt")).out.strip()
    out = program.home / "out"
    for _ in range(2):
        await service.finish()
    first = await program.run("batch", "fetch", batch, "--format", "html", "--format", "md", "--format", "csv")
    assert first.code == 0, first.err
    file_names = {file.name for file in out.iterdir() if not file.name.startswith(".")}
    for _ in range(2):
        await service.finish()
    fetch_result = await program.run("batch", "fetch", batch, "--format", "html", "--format", "md", "--format", "csv")
    assert fetch_result.code == 0, fetch_result.err
    page = (out / "index.html").read_text("utf-8")
    table = list(csv.DictReader(io.StringIO((out / f"{batch}.csv").read_bytes().decode("utf-8-sig"), newline="")))
    reports = [Path(part).name for part in fetch_result.out.split() if Path(part).suffix in (".html", ".md")][:-1]
    assert len(reports) == 8
    assert "2 of 4 reports were already in out" in fetch_result.err
    visible_names = {file.name for file in out.iterdir() if not file.name.startswith(".")}
    assert file_names <= visible_names == {*reports, "index.html", f"{batch}.csv"}
    assert all(f'href="{name}"' in page for name in reports)
    assert {"A-2026-0008.html", "risk.html"} <= set(reports)
    twice = {
        f"A-2026-0007-row-{int(row['row']):05}-{row['id']}.html" for row in table if row["title"] in ("One", "Three")
    }
    assert len(twice) == 2
    assert twice <= set(reports)
    assert "risk.txt" in page


async def test_commands_of_a_service_print_one_json_document(program: Program, service: Service) -> None:
    async def run_json(*words: str) -> Any:
        return json.loads((await program.run("batch", *words, "--json")).out)

    (batch,) = (await run_json("submit", "ideas"))["ids"]
    (batch_item,) = (await run_json("list"))["batches"]
    assert batch_item["id"] == batch
    jobs = [item["id"] for item in (await run_json("list", batch))["evaluations"]]
    await service.finish()
    assert set(await run_json("cancel", batch)) == {batch}
    (last_state,) = await run_json("watch", batch)
    assert last_state["finished_at"]
    assert "rows are queued again" in (await run_json("retry", batch))[batch]
    assert (await run_json("usage"))["tenant"] == ACME
    assert (await run_json("timeline", jobs[0]))["id"] == jobs[0]
    assert (await run_json("fetch", batch, "--format", "csv"))["files"] == [f"out/{batch}.csv"]
    members = await program.run("admin", "members", "list", "--json")
    assert isinstance(json.loads(members.out), list)
