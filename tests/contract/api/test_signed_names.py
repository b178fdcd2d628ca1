"""Names on a panel that is signed off stay as they were signed, whatever its people are called later."""

import datetime as dt

from pydantic import SecretStr

from orchestrator.jobs.models import BatchId
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.audit_log import PgAuditLog
from tests.contract.api.people import OPERATOR, asking, call_of, person
from tests.contract.api.service import ACME, OTHER, Service
from tests.contract.api.test_console_tables import signed_in
from tests.contract.api.test_decision_pages import reviewed_call
from tests.contract.store_jobs import NOW
from tests.contract.tables_of import tables_of

BEFORE, AFTER = "Ada Byron", "Somebody Else"


async def test_a_member_who_is_renamed_stays_on_what_was_signed_as_they_were(service: Service) -> None:
    owner = await person(service, "owner", "Olga Owner")
    ada, signed, (first, second) = await reviewed_call(service, "# One", "# Two")
    going_on, (other,) = await call_of(service, "# Three")
    async with asking(service, owner) as owners, asking(service, ada) as reviewer:
        await owners.post(f"/v1/batches/{going_on}/assignments", json={"per_proposal": 1})
        for one in (first, other):
            assert (await reviewer.post(f"/v1/evaluations/{one}/opinions", json={"score": 4})).status_code == 200
        point = {"point": "/summary/strengths/0", "agrees": True, "reason": "It is so."}
        assert (await reviewer.post(f"/v1/evaluations/{first}/judgements", json=point)).status_code == 200
        conflict = {"reason": "We wrote a paper together."}
        assert (await reviewer.post(f"/v1/evaluations/{second}/conflicts", json=conflict)).status_code == 200
        body = {"despite_missing": True, "despite_unfinished": True}
        assert (await owners.post(f"/v1/batches/{signed}/sign-off", json=body)).status_code == 200
        before = (await owners.get(f"/v1/batches/{signed}/panel")).json()
        renamed = await owners.patch(f"/v1/members/{ada.member.id}", json={"name": AFTER})
        assert renamed.status_code == 200
        assert (await owners.get(f"/v1/batches/{signed}/panel")).json() == before
        assert before["rows"][0]["opinions"][0]["name"] == BEFORE
        judged = (await owners.get(f"/v1/evaluations/{first}/judgements")).json()["items"]
        assert [one["name"] for one in judged] == [BEFORE]
        panel = (await owners.get(f"/v1/batches/{going_on}/panel")).json()
        assert panel["rows"][0]["opinions"][0]["name"] == AFTER
    async with signed_in(service, owner.key) as browser:
        for page in ("panel", "assignments"):
            shown = (await browser.get(f"/console/calls/{signed}/{page}")).text
            assert BEFORE in shown, page
            assert AFTER not in shown, page
            assert BEFORE not in (await browser.get(f"/console/calls/{going_on}/{page}")).text
        assert BEFORE in (await browser.get(f"/console/proposals/{first}")).text


async def test_names_that_were_signed_go_with_the_call_and_with_the_tenant(service: Service) -> None:
    owner = await person(service, "owner", "Olga Owner")
    await person(service, "reviewer", BEFORE)
    for text in ("# One", "# Two"):
        signed, _ = await call_of(service, text)
        async with asking(service, owner) as owners:
            await owners.post(f"/v1/batches/{signed}/assignments", json={"per_proposal": 1})
            body = {"despite_missing": True, "despite_unfinished": True}
            assert (await owners.post(f"/v1/batches/{signed}/sign-off", json=body)).status_code == 200
    assert len(await service.database.fetch("SELECT FROM signed_names WHERE name = $1", BEFORE)) == 2
    async with service.caller("manage") as machine:
        assert (await machine.post("/v1/erasures", json={"batch": signed})).status_code == 200
    assert len(await service.database.fetch("SELECT FROM signed_names")) == 1
    async with service.caller("admin", tenant=OTHER) as operator:
        assert (await operator.delete(f"/v1/tenants/{ACME}")).status_code == 204
    assert await service.database.fetch("SELECT FROM signed_names") == []


async def test_names_of_calls_that_were_signed_before_are_those_of_then(empty_database_url: str) -> None:
    await tables_of("0036", empty_database_url)
    later, batch = NOW + dt.timedelta(days=1), BatchId("bt_1")
    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        await database.execute("INSERT INTO tenants (id, name) VALUES ($1, 'Acme')", ACME)
        for id, name in (("mb_ada", AFTER), ("mb_bob", "Bob"), ("mb_out", "Out")):
            await database.execute(
                "INSERT INTO members (id, tenant, name, email, affiliation, role, invited_by) "
                "VALUES ($1, $2, $3, $1, '', 'reviewer', 'ak')",
                id,
                ACME,
                name,
            )
        log = PgAuditLog(database)
        await log.record(ACME, OPERATOR, "member invited", "mb_ada", NOW, name="Ada B.", role="reviewer")
        await log.record(ACME, OPERATOR, "member changed", "mb_ada", NOW, name=BEFORE, role="reviewer")
        # Words about other things are not read: a database cannot take all of them for JSON.
        await log.record(ACME, OPERATOR, "conflict declared", "ev_1", NOW, reason="They write\x00together.")
        tip = await log.record(ACME, OPERATOR, "signed off", batch, NOW)
        await log.record(ACME, OPERATOR, "member changed", "mb_ada", later, name=AFTER, role="reviewer")
        await database.execute("INSERT INTO batches (id, tenant, name, rows) VALUES ($1, $2, 'b', 1)", batch, ACME)
        await database.execute(
            "INSERT INTO jobs (id, tenant, batch, kind, priority, state, subject, request, last_event) "
            "VALUES ('ev_1', $1, $2, 'evaluation', 1, 'queued', 's', '{}', 0)",
            ACME,
            batch,
        )
        for member in ("mb_ada", "mb_bob"):
            await database.execute("INSERT INTO assignments VALUES ('ev_1', $1, $2)", member, NOW)
        await database.execute(
            "INSERT INTO sign_offs (batch, by, name, note, missing_opinions, at, audit_number, audit_hash) "
            "VALUES ($1, 'mb_o', 'Olga', '', 2, $2, $3, $4)",
            batch,
            NOW,
            tip.number,
            tip.hash,
        )
        await database.execute("ANALYZE")
        await database.migrate()
        rows = await database.fetch("SELECT member, name FROM signed_names ORDER BY member")
    assert [tuple(row) for row in rows] == [("mb_ada", BEFORE), ("mb_bob", "Bob")]
    await tables_of("0036", empty_database_url, back=True)
