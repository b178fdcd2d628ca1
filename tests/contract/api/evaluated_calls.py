"""Calls for proposals whose evaluations have ended."""

from collections.abc import Mapping
from typing import Any

from assayer.models import Absent, CorpusFit, Part, Report, Score, Summary
from orchestrator.jobs.models import BatchId, Problem, TenantId
from orchestrator.jobs.requests import EvaluationRequest
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import ACME, Service
from tests.contract.store_records import report
from tests.unit.batch_bodies import WORDS

EMPTY_SUMMARY = Summary(strengths=(), weaknesses=(), suggestions=())
NO_SCORE_REASON = "The corpus does not cover its field."
TITLES = ("Rehearsal by risk", "Ore from slag", "Quiet rotors", "Salt and light")
ENTRANTS = 6
_OUTCOMES: list[float | str | None] = [7.0, 2.5, None, "failed"]
_REEFS = "Coral reef larvae settle on a coral reef where other larvae settled."
_QUBITS = "Photons in a cavity drive a qubit, and a qubit in a cavity emits photons."


def build_part(score: Score | Absent) -> Part:
    """Return a part of a report that holds nothing but a score."""
    return Part(name="soundness", title="Soundness", score=score, summary=EMPTY_SUMMARY, assessments=())


def _set_coverage(plain_report: Report, *, is_covered: bool, **changes: Any) -> Report:
    fit = CorpusFit(level="good" if is_covered else "poor", value=0.5, criterion="nearness")
    return plain_report.model_copy(
        update={"coverage": plain_report.coverage.model_copy(update={"corpus_fit": fit})} | changes
    )


async def call_with_reports(service: Service, tenant: TenantId = ACME) -> str:
    """Return a call of five rows: two have scores, one has a report without a score, one failed, one was rejected."""
    rows = "\n".join(
        f'{title},"We study {title} with eight baselines. {"It is new and testable. " * 12}"' for title in TITLES
    )
    async with service.open_caller(tenant=tenant) as owner:
        answer = await owner.post(
            "/v1/batches?name=Spring", files=[("file", ("call.csv", f"title,text\n{rows}\nEmpty,\n".encode()))]
        )
    assert answer.status_code == 202, answer.text
    for outcome in _OUTCOMES:
        if isinstance(outcome, str):
            await service.finish(Problem(type="unreadable", title="It cannot be read", detail="Send it as PDF."))
            continue
        score = (
            Absent(reason=NO_SCORE_REASON)
            if outcome is None
            else Score(value=outcome, basis="two papers", certainty="low")
        )
        finished_report = _set_coverage(report(), is_covered=outcome is not None, parts=(build_part(score),))
        await finish_with_report(service, await service.lease_next(), finished_report)
    return str(answer.json()["id"])


async def evaluate_call_of_six(service: Service, uncovered: int | None = None) -> str:
    """Return a call of six proposals, each worth its number.

    With `uncovered`, that many of the first proposals lie in a field that the corpus does not cover and have no score;
    the next one lies in such a field and has a score; the rest are covered and scored."""
    texts = {f"{number}.txt": f"Idea of worth {number}. {WORDS}" for number in range(ENTRANTS)}
    return await evaluate_call(service, texts, uncovered)


async def evaluate_call(service: Service, texts: Mapping[str, str], uncovered: int | None = None) -> str:
    """Return a call with a report for each file."""
    form = [("file", (name, text.encode())) for name, text in texts.items()]
    answer = await service.machine.post("/v1/batches?name=Spring", files=form)
    assert answer.status_code == 202, answer.text
    for number in range(len(texts)):
        lease = await service.lease_next()
        assert isinstance(lease.request, EvaluationRequest)
        idea = lease.request.idea
        assert idea is not None
        plain_report = report(text=idea.text)
        card = plain_report.idea.model_copy(update={"id": idea.id, "title": idea.text[:15], "source": idea.source})
        finished_report = plain_report.model_copy(update={"idea": card})
        if uncovered is not None:
            has_score = number >= uncovered
            score = Score(value=5.0, basis="two papers") if has_score else Absent(reason=NO_SCORE_REASON)
            finished_report = _set_coverage(finished_report, is_covered=number > uncovered, parts=(build_part(score),))
        await finish_with_report(service, lease, finished_report)
    return str(answer.json()["id"])


async def call_of_two_fields(service: Service) -> BatchId:
    """Return a call of eight proposals in a field that the corpus covers and eight in a field that it does not."""
    rows = "\n".join(f'Number {n},"{_REEFS if n < 8 else _QUBITS} {"We test it. " * 20}"' for n in range(16))
    answer = await service.machine.post("/v1/batches", files=[("file", ("call.csv", f"title,text\n{rows}\n".encode()))])
    for _ in range(16):
        lease = await service.lease_next()
        is_covered = "Coral" in lease.request.model_dump_json()
        plain_report = report(text=_REEFS if is_covered else _QUBITS)
        await finish_with_report(service, lease, _set_coverage(plain_report, is_covered=is_covered))
    return BatchId(answer.json()["id"])
