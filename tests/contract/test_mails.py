"""Mails to members: written in the transaction of their event, sent once, given up with a reason."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator

import pytest

from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, Problem
from orchestrator.mail.models import EmailDelivery
from orchestrator.outbox import Abandoned
from orchestrator.store import Database, NotificationListener
from orchestrator.store.mails import PgMails
from orchestrator.store.webhooks import PgWebhooks
from tests.contract.api.people import FILLER, OPERATOR, Person, add_person, call_of
from tests.contract.api.service import ACME, OTHER, Service
from tests.contract.mail_sending import begin_sending, run_sender, send_mails
from tests.contract.mail_server import Letter, MailServer, run_mail_server
from tests.contract.store_jobs import NOW
from tests.polling import wait_until_async

FAILED = Problem(type="internal-error", title="It failed", detail="It failed.")


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Service]:
    async with NotificationListener(database) as listener:
        mail_service = Service.build(database, listener)
        for tenant in (ACME, OTHER):
            await mail_service.create_tenant(tenant)
        yield mail_service


@pytest.fixture
async def smtp() -> AsyncIterator[MailServer]:
    async with run_mail_server() as opened_server:
        yield opened_server


async def submit_call(service: Service, officer: Person, *titles: str, **query: str) -> str:
    """Submit a call as a member."""
    form = [("file", (f"{place}.txt", f"{title}\n\n{FILLER}{place}".encode())) for place, title in enumerate(titles)]
    answer = await officer.post("/v1/batches", files=form, params={"name": "Call 7", **query})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def finish_batches(service: Service) -> None:
    await PgWebhooks(service.database, service.services.mails).queue_finished_batches()


async def list_mails(service: Service, person: Person) -> list[EmailDelivery]:
    return await service.services.mails.list_for_member(person.member.tenant, person.member.id)


async def wait_for_state(service: Service, person: Person, state: str) -> list[EmailDelivery]:
    async def ask() -> list[EmailDelivery]:
        return await list_mails(service, person)

    return await wait_until_async(ask, lambda mails: bool(mails) and all(mail.state == state for mail in mails))


async def assign(service: Service, owner: Person, call: str, per_proposal: int = 1) -> None:
    answer = await owner.post(f"/v1/batches/{call}/assignments", json={"per_proposal": per_proposal})
    assert answer.status_code == 200, answer.text


async def test_submitter_is_mailed_once_when_the_call_finishes(service: Service, smtp: MailServer) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    other_officer = await add_person(service, "officer", "Olaf Other")
    call = await submit_call(service, officer, "# One", "# Two", "# Three")
    await service.finish()
    await service.finish(FAILED)
    await finish_batches(service)
    assert not await list_mails(service, officer)
    await service.finish()
    best = "(SELECT min(run) FROM report_figures)"
    await service.database.execute(f"UPDATE report_figures SET score = 0.5, complete = run = {best}")  # noqa: S608
    await service.database.execute(f"UPDATE report_figures SET fit = 'poor' WHERE run <> {best}")  # noqa: S608
    assert await service.services.tables.count_by_outcome(ACME, BatchId(call)) == {"full": 1, "part": 1, "failed": 1}
    await service.database.execute("UPDATE jobs SET cost_usd = NULL WHERE state = 'failed'")
    await asyncio.gather(*(finish_batches(service) for _ in range(5)))
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
        (mail,) = await wait_for_state(service, officer, "sent")
    assert letter.recipients == ("otto.officer@example.org",)
    assert letter.message["To"] == "Otto Officer <otto.officer@example.org>"
    assert letter.message["From"] == "assayer <assayer@example.org>"
    assert letter.message["Subject"] == "Finished: Call 7"
    assert letter.message["Auto-Submitted"] == "auto-generated"
    lines = [" ".join(line.split()) for line in letter.text.splitlines()]
    assert lines[:7] == [
        "Call 7 has finished: 3 rows.",
        "",
        "1 evaluated in full",
        "1 evaluated in part",
        "0 without a score",
        "1 failed",
        "0 rejected: no usable proposal in the row",
    ]
    assert "Cost: unknown; the known part is $0.50." in lines
    assert "The corpus does not cover the field of 1 proposal: expect no score or only" in lines
    assert f"https://assayer.example.org/console/calls/{call}" in lines
    assert mail.batch == call
    assert mail.last_result.endswith("accepted it: queued as 7")
    assert not await list_mails(service, other_officer)


async def test_submitter_is_mailed_again_after_a_retried_call_finishes(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    call = await submit_call(service, officer, "# One")
    await service.finish(FAILED)
    await finish_batches(service)
    await service.services.jobs.retry_batch(ACME, BatchId(call))
    await finish_batches(service)
    assert len(await list_mails(service, officer)) == 1
    await service.finish()
    await finish_batches(service)
    await finish_batches(service)
    assert len(await list_mails(service, officer)) == 2


async def test_mail_about_a_call_with_an_erased_proposal_states_no_total(service: Service, smtp: MailServer) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    owner = await add_person(service, "owner", "Olga Owner")
    call = await submit_call(service, officer, "# One", "# Two")
    await service.finish()
    await service.finish()
    answer = await owner.post("/v1/erasures", json={"source": "1.txt"})
    assert answer.status_code == 200, answer.text
    await finish_batches(service)
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
    assert (await officer.get(f"/v1/batches/{call}")).json()["cost_usd"] is None
    assert "Cost: unknown; the known part is $0.25." in letter.text


async def test_finished_call_submitted_by_machine_is_not_mailed(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    await call_of(service, "# One")
    await service.finish()
    await finish_batches(service)
    assert not await list_mails(service, officer)


async def test_reviewer_gets_single_mail_for_assignments_made_together(service: Service, smtp: MailServer) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    grace, linus = await add_person(service, "reviewer", "Grace Hopper"), await add_person(service, "reviewer", "Linus")
    call = await submit_call(service, owner, "# One", "# Two", "# Three", opinions_due="2031-12-01")
    await assign(service, owner, call)
    await assign(service, owner, call)  # nothing new
    async with send_mails(service, smtp.port):
        letters = {item.recipients[0]: item for item in await smtp.receive(2)}
        await wait_for_state(service, grace, "sent")
    assert letters.keys() == {grace.member.email, linus.member.email}
    subjects = sorted(letter.message["Subject"] for letter in letters.values())
    assert subjects == [f"{count} to review, due by 2031-12-01: Call 7" for count in ("1 proposal", "2 proposals")]
    text = letters[grace.member.email].text
    assert "Your review is due by 2031-12-01." in text
    assert "https://assayer.example.org/console/sign-in/link/" in text
    assert "One" not in text
    assert "overwrite" not in text
    assert len(await list_mails(service, grace)) == 1


async def test_invited_member_receives_sign_in_link(service: Service, smtp: MailServer) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    new = {"name": "Ada Byron", "email": "ada@example.org", "role": "reviewer"}
    answers = [await owner.post("/v1/members", json=new) for _ in range(2)]
    assert [item.status_code for item in answers] == [201, 201]
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
        response = await wait_until_async(
            lambda: owner.get(f"/v1/members/{answers[0].json()['id']}/emails"),
            lambda answer: answer.json()["items"][0]["state"] == "sent",
        )
    assert letter.message["Subject"] == "Invitation to assayer for acme"
    assert "https://assayer.example.org/console/sign-in" in letter.text
    (mail,) = response.json()["items"]
    assert mail["kind"] == "member invited"


async def test_reviewer_invited_to_a_call_is_mailed_its_name(service: Service, smtp: MailServer) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    call = await submit_call(service, officer, "# One", opinions_due="2031-12-01")
    answer = await officer.post(f"/v1/batches/{call}/reviewers", json={"name": "Ada", "email": "ada@example.org"})
    assert answer.status_code == 201, answer.text
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
    assert letter.recipients == ("ada@example.org",)
    assert letter.message["Subject"] == "Invitation to review: Call 7"
    assert "review proposals in Call 7 for acme" in letter.text
    assert "due by 2031-12-01" in letter.text
    assert "One" not in letter.text


async def test_disabled_mail_service_queues_nothing(service: Service) -> None:
    disabled_mails = PgMails(service.database, enabled=False)
    owner = await add_person(service, "owner", "Olga Owner")
    await submit_call(service, owner, "# One")
    await service.finish()
    await PgWebhooks(service.database, disabled_mails).queue_finished_batches()
    await service.database.run(lambda connection: disabled_mails.queue_invitation(connection, owner.member))
    assert not await list_mails(service, owner)


async def test_opted_out_and_removed_members_are_not_mailed(service: Service) -> None:
    owner, now = await add_person(service, "owner", "Olga Owner"), service.services.clock.now()
    grace, linus = await add_person(service, "reviewer", "Grace Hopper"), await add_person(service, "reviewer", "Linus")
    call = await submit_call(service, owner, "# One", "# Two")
    await assign(service, owner, call)
    assert len(await list_mails(service, grace)) == len(await list_mails(service, linus)) == 1
    quiet = await owner.patch(f"/v1/members/{grace.member.id}", json={"receives_email": False})
    assert quiet.json()["receives_email"] is False
    await service.services.members.remove(ACME, linus.member.id, ActBy(OPERATOR, now))
    assert not await list_mails(service, grace)
    assert not await list_mails(service, linus)
    await assign(service, owner, call, per_proposal=2)
    await service.database.execute("UPDATE batches SET submitted_by = $1", grace.member.id)
    for _ in range(2):
        await service.finish()
    await finish_batches(service)
    assert not await list_mails(service, grace)


async def test_mails_are_deleted_with_their_call_or_tenant(service: Service) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    grace = await add_person(service, "reviewer", "Grace Hopper")
    call = await submit_call(service, owner, "# One")
    await assign(service, owner, call)
    await service.services.erasures.erase(ACME, [], ActBy(OPERATOR, NOW), batch=BatchId(call))
    assert not await list_mails(service, grace)
    assert await service.services.mails.list_for_member(ACME, MemberId("mb_none")) == []
    await service.database.run(lambda connection: service.services.mails.queue_invitation(connection, grace.member))
    assert len(await list_mails(service, grace)) == 1
    assert await service.services.tenants.delete(ACME, ActBy(OPERATOR, NOW))
    assert await service.database.fetch("SELECT FROM mails") == []


async def test_finished_mails_are_deleted_after_a_week(service: Service) -> None:
    grace = await add_person(service, "reviewer", "Grace Hopper")
    for _ in range(2):
        await service.database.run(lambda connection: service.services.mails.queue_invitation(connection, grace.member))
    await service.database.execute("UPDATE mails SET state = 'sent' WHERE id = (SELECT id FROM mails LIMIT 1)")
    now = service.services.clock.now()
    await service.services.jobs.purge(now + dt.timedelta(days=6))
    assert len(await list_mails(service, grace)) == 2
    await service.services.jobs.purge(now + dt.timedelta(days=8))
    assert [item.state for item in await list_mails(service, grace)] == ["pending"]


async def invite_members(service: Service, *names: str) -> list[Person]:
    """Members with a mail each."""
    people = [await add_person(service, "reviewer", name) for name in names]
    for item in people:
        await service.database.run(
            lambda connection, member=item.member: service.services.mails.queue_invitation(connection, member)  # type: ignore[misc]
        )
    return people


async def test_unknown_mailbox_fails_immediately_and_reason_is_reported(service: Service, smtp: MailServer) -> None:
    smtp.recipient_answer = "550 5.1.1 no such mailbox"
    (grace,) = await invite_members(service, "Grace Hopper")
    async with send_mails(service, smtp.port):
        (mail,) = await wait_for_state(service, grace, "failed")
    assert mail.attempt == 1
    assert "550 5.1.1 no such mailbox" in mail.last_result
    assert await service.services.mails.get_failure_reasons(ACME) == {grace.member.id: mail.last_result}
    assert await service.services.mails.get_failure_reasons(OTHER) == {}


async def test_temporarily_rejected_mail_is_retried_and_finally_fails(service: Service, smtp: MailServer) -> None:
    smtp.recipient_answer = "450 4.2.1 come back later"
    (grace,) = await invite_members(service, "Grace Hopper")
    async with send_mails(service, smtp.port):
        (mail,) = await wait_for_state(service, grace, "failed")
    assert mail.attempt == 3
    assert mail.last_result.endswith("That was attempt 3 of 3.")
    assert not smtp.letters


async def test_server_outage_costs_each_mail_a_single_try_before_delivery(service: Service) -> None:
    people = await invite_members(service, "Grace Hopper", "Linus", "Ada Byron")
    async with run_mail_server() as stopped_server:
        port = stopped_server.port
    async with send_mails(service, port, first_seconds=3_600):

        async def list_attempts() -> list[tuple[int, bool]]:
            mails = [mail for person in people for mail in await list_mails(service, person)]
            return [(mail.attempt, bool(mail.last_result)) for mail in mails]

        await wait_until_async(list_attempts, lambda attempts: attempts == [(1, True)] * 3)
    await service.database.execute("UPDATE mails SET next_at = now()")
    async with run_mail_server() as back, send_mails(service, back.port):
        for person in people:
            await wait_for_state(service, person, "sent")
    assert len(back.letters) == 3


async def test_hung_server_times_out_and_mail_is_sent_later(service: Service, smtp: MailServer) -> None:
    (grace,) = await invite_members(service, "Grace Hopper")
    smtp.hang_at = "MAIL"
    async with send_mails(service, smtp.port, deadline_seconds=0.3, tries=50):
        (mail,) = await wait_until_async(lambda: list_mails(service, grace), lambda mails: bool(mails[0].last_result))
        assert "did not answer within 0.3 s" in mail.last_result
        smtp.hang_at = ""
        smtp.gate.set()
        await wait_for_state(service, grace, "sent")
    assert len(smtp.letters) == 1


async def test_mail_is_resent_with_same_id_after_server_crash(service: Service, smtp: MailServer) -> None:
    (grace,) = await invite_members(service, "Grace Hopper")
    smtp.die_at, smtp.dying = "DATA", 1
    async with send_mails(service, smtp.port):
        first, second = await smtp.receive(2)
        await wait_for_state(service, grace, "sent")
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert len(smtp.letters) == 2


async def test_stopping_process_finishes_the_mail_in_progress(service: Service, smtp: MailServer) -> None:
    (grace,) = await invite_members(service, "Grace Hopper")
    smtp.hang_at = "DATA"
    async with send_mails(service, smtp.port) as running:
        await smtp.receive(1)
        running.cancel()
        smtp.gate.set()
        await asyncio.wait((running,))
        assert running.cancelled()
    assert [item.state for item in await list_mails(service, grace)] == ["sent"]


async def test_invalid_address_fails_without_sending(service: Service, smtp: MailServer) -> None:
    (grace,) = await invite_members(service, "Grace Hopper")
    await service.database.execute("UPDATE members SET email = $1", "grace@example.org, eve@example.org")
    async with send_mails(service, smtp.port):
        (mail,) = await wait_for_state(service, grace, "failed")
    assert "address is invalid" in mail.last_result
    assert not smtp.letters


async def test_metrics_report_waiting_time_and_failed_mails(service: Service) -> None:
    await invite_members(service, "Grace Hopper", "Ada Byron")
    await service.database.execute("UPDATE mails SET created_at = now() - interval '3 hours'")
    first, _ = await service.services.mails.claim(10, 60)
    assert await service.services.mails.settle(first, Abandoned("There is no such mailbox."))
    metrics = await service.services.metrics.collect()
    assert [metrics[name][0]["messages"] for name in ("mails", "failed_mails", "deliveries")] == [1, 1, 0]
    assert 3 * 3600 <= metrics["mails"][0]["oldest_seconds"] < 4 * 3600
    async with service.open_caller("admin") as admin:
        figures = (await admin.get("/metrics")).text.splitlines()
    assert {"assayer_emails_pending 1.0", "assayer_emails_abandoned_last_hour 1.0"} <= set(figures)
    await service.database.execute("UPDATE mails SET next_at = now() - interval '2 hours' WHERE state = 'failed'")
    assert (await service.services.metrics.collect())["failed_mails"][0]["messages"] == 0


def _list_message_ids(letters: list[Letter]) -> list[str]:
    return sorted(str(letter.message["Message-ID"]) for letter in letters)


async def test_two_processes_at_once_send_each_mail_once(service: Service, smtp: MailServer, database_url: str) -> None:
    people = await invite_members(service, *(f"Reviewer {number}" for number in range(60)))
    async with run_sender(database_url, smtp.port) as first, run_sender(database_url, smtp.port) as second:
        await asyncio.gather(begin_sending(first), begin_sending(second))
        for person in people:
            await wait_for_state(service, person, "sent")
    assert len(smtp.letters) == 60
    assert len(set(_list_message_ids(smtp.letters))) == 60
    assert smtp.connections > 2


async def test_mail_of_a_killed_sender_is_sent_by_another(
    service: Service, smtp: MailServer, database_url: str
) -> None:
    (grace,) = await invite_members(service, "Grace Hopper")
    smtp.hang_at = "DATA"
    async with run_sender(database_url, smtp.port) as doomed:
        await begin_sending(doomed)
        await smtp.receive(1)
        doomed.kill()
        await doomed.wait()
    smtp.hang_at = ""
    smtp.gate.set()
    assert [item.state for item in await list_mails(service, grace)] == ["pending"]
    await service.database.execute("UPDATE mails SET next_at = now()")  # the claim has run out
    async with send_mails(service, smtp.port):
        await wait_for_state(service, grace, "sent")
    assert _list_message_ids(smtp.letters)[0] == _list_message_ids(smtp.letters)[1]  # taken twice, known by its id
    assert len(smtp.letters) == 2


async def test_inviting_without_mailed_flag_queues_nothing(service: Service) -> None:
    ada = await add_person(service, "reviewer")
    assert not await list_mails(service, ada)
