"""Whether people agree, with each other and with the program: drawn for officers, and told to no reviewer."""

import html
import re
from collections.abc import Sequence

import pytest

from assayer.models import EvaluationId, Part, Score, Summary
from orchestrator.access.roles import PERMISSIONS
from orchestrator.jobs.models import BatchId, JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from tests.contract.api.people import Person, asking, person
from tests.contract.api.service import OTHER, Service
from tests.contract.api.test_console_tables import signed_in
from tests.contract.store_records import report

NOTHING = Summary(strengths=(), weaknesses=(), suggestions=())
MACHINE: Sequence[float | None] = (0.5, 1.5, 3.5, 4.5, 6.5, 7.5, 9.5, None)
"""Of the proposals in the order of their rows, of 10."""
OF_GRACE = (1, 1, 2, 3, 4, 4, 5, 3)
OF_BEN = (1, 2, 2, 4, 3, 4, 5, 1)


async def reviewed_call(service: Service, given: int = 8, others: int = 0) -> tuple[BatchId, Person, Person]:
    """A call of eight, assigned to two reviewers, of whom both have given so many first opinions; and to `others` who
    are there besides."""
    rows = "\n".join(f'Number {n},"We count what {n} plots hold. {"We test it. " * 20}"' for n in range(len(MACHINE)))
    grace, ben = await person(service, "reviewer", "Grace Hopper"), await person(service, "reviewer", "Ben Blum")
    officer = await person(service, "officer", "Otto Officer")
    async with asking(service, officer) as officers:
        made = await officers.post("/v1/batches", files=[("file", ("call.csv", f"title,text\n{rows}\n".encode()))])
        batch = BatchId(made.json()["id"])
        assigned = await officers.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2 + others})
        assert assigned.status_code < 300, assigned.text
        listed = (await officers.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    of_row = {one["row"]: one["id"] for one in listed}
    leases = PgLeases(service.database, QueueSettings())
    for _ in MACHINE:
        lease = await service.lease()
        run = EvaluationId(f"run_{lease.job}")
        assert await leases.record_run(lease, run, {})
        value = next(MACHINE[row - 1] for row, id in of_row.items() if id == lease.job)
        parts: tuple[Part, ...] = ()
        if value is not None:
            score = Score(value=value, basis="two papers", certainty="low")
            parts = (Part(name="soundness", title="Soundness", score=score, summary=NOTHING, assessments=()),)
        await PgReports(service.database).keep(report(run).model_copy(update={"parts": parts}), [], {})
        assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    for who, scores in ((grace, OF_GRACE), (ben, OF_BEN)):
        async with asking(service, who) as reviewer:
            for row, opinion in list(enumerate(scores, 1))[:given]:
                answer = await reviewer.post(f"/v1/evaluations/{of_row[row]}/opinions", json={"score": opinion})
                assert answer.status_code < 300, answer.text
    return batch, grace, ben


async def test_agreement_is_drawn_with_what_chance_and_one_score_for_all_would_give(service: Service) -> None:
    batch, grace, _ = await reviewed_call(service)
    async with asking(service, grace) as reviewer:  # a revision moves no first opinion
        first = (await reviewer.get("/v1/assignments")).json()["items"][0]["evaluation"]
        revised = await reviewer.patch(f"/v1/evaluations/{first}/opinions", json={"score": 5})
        assert revised.status_code == 200, revised.text
    async with signed_in(service, await service.key()) as officer:
        page = (await officer.get(f"/console/calls/{batch}/plots")).text
    cells = [re.sub("<[^>]*>", "|", row) for row in re.findall("<tr>.*?</tr>", page)]
    rows = [[cell.strip() for cell in row.split("|") if cell.strip()] for row in cells]
    assert ["the same score", "4"] in [row[:2] for row in rows]
    assert ["1", "3"] in [row[:2] for row in rows]
    assert ["2", "1"] in [row[:2] for row in rows]
    assert next(row for row in rows if row[0] == "First opinions")[1:] == ["50 %", "88 %", "82 %"]
    assert next(row for row in rows if row[0] == "By chance")[3] == "50 %"
    (machine,) = (row for row in rows if row[0] == "The program")
    assert machine[1:] == ["97 %", "38"]
    assert ["Chance, or one score for everything", "50 %", "–"] in rows
    assert "2 opinions of proposals that the program gave no score are not drawn" in page
    assert ["90 to 100", "0", "0", "0", "0", "2"] in rows
    link = html.unescape(re.findall('<a href="([^"]*score_from=90[^"]*)"', page)[-1])
    async with signed_in(service, await service.key()) as officer:
        assert "1 proposal<" in (await officer.get(link)).text


@pytest.mark.parametrize(
    ("given", "words"),
    [(0, "Nobody has given a first opinion yet."), (4, "Not enough opinions. Only 4 proposals have")],
)
async def test_without_opinions_and_with_few_the_page_says_so(service: Service, given: int, words: str) -> None:
    batch, *_ = await reviewed_call(service, given)
    async with signed_in(service, await service.key()) as officer:
        page = (await officer.get(f"/console/calls/{batch}/plots")).text
    assert words in page
    assert "Agreement of people with each other" not in page


async def test_nobody_who_gives_opinions_learns_from_it_what_others_or_the_machine_think(service: Service) -> None:
    batch, _, ben = await reviewed_call(service)
    eve = await person(service, "reviewer", "Eve Adams")  # has given none
    assert not PERMISSIONS["give opinions"] & (PERMISSIONS["see calls"] | PERMISSIONS["see the panel"])
    for who in (ben, eve):
        async with signed_in(service, who.key) as reviewer:
            refused = await reviewer.get(f"/console/calls/{batch}/plots")
            assert refused.status_code == 403
            assert "Same order" not in refused.text
            for path in ("queue", "account"):
                assert "/plots" not in (await reviewer.get(f"/console/{path}")).text
    stranger = await service.key(tenant=OTHER)
    async with signed_in(service, stranger) as other:
        assert (await other.get(f"/console/calls/{batch}/plots")).status_code == 404
    assert (await service.services.opinions.first(OTHER, batch)).scores == []
