"""Cost estimate of a batch before it is sent, from the tenant's own evaluations; nothing is stored."""

import asyncio
import datetime as dt
from collections.abc import Sequence

import httpx2

from assayer.models import Absent, CorpusFit, EvaluationId, Idea, IdeaId, Window
from assayer.models.llm import GpuSpeed
from assayer_client.batches import BatchEstimate
from orchestrator.api.expected_fit import estimate_fit
from orchestrator.jobs.estimates import TypicalEvaluation
from orchestrator.jobs.models import JobVerdict, TenantId, TenantPlan
from orchestrator.store import PgAnswerCache
from tests.contract.api.commands import Program
from tests.contract.api.service import ACME, JSONL_HEADERS, OTHER, Service, serve
from tests.contract.store_jobs import Queue, build_job
from tests.contract.store_records import build_answered_row, call
from tests.in_memory import MemoryCorpusVersions
from tests.memory_corpus import MemoryCorpus
from tests.unit.batch_bodies import make_idea_text, render_jsonl
from tests.unit.scicompanion_world import PAPERS
from workers.embedding.hashing_embedder import HashingEmbedder

TYPICAL = TypicalEvaluation(calls=60, prompt_tokens=200_000, completion_tokens=20_000, cost_usd=0.4, high_cost_usd=0.5)
THREE = render_jsonl(
    [
        {"title": "A", "text": make_idea_text(1)},
        {"title": "B", "text": make_idea_text(2)},
        {"title": "B", "text": make_idea_text(2)},
        {"title": "-"},
    ]
)


async def request_estimate(caller: httpx2.AsyncClient, body: bytes = THREE, **query: str) -> BatchEstimate:
    answer = await caller.post("/v1/batches/estimate", content=body, headers=JSONL_HEADERS, params=query)
    assert answer.status_code == 200, answer.text
    return BatchEstimate.model_validate_json(answer.content)


async def finish_evaluations(service: Service, count: int, usd: float | None, tenant: TenantId = ACME) -> None:
    """Finish `count` evaluations that cost `usd` each."""
    queue = Queue(service.database)
    await queue.add(*(build_job(f"{tenant}_{usd}_{number}") for number in range(count)), tenant=tenant)
    for lease in await queue.acquire_leases(count):
        run = EvaluationId(f"run_{lease.job}")
        assert await queue.leases.record_run(lease, run, {"run": run})
        row = build_answered_row(f"key_{run}", run, call(cost_usd=usd)).model_copy(
            update={"at": dt.datetime.now(dt.UTC)}
        )
        await PgAnswerCache(service.database).record(row, None)
        await queue.leases.finish(lease, JobVerdict(state="succeeded", cost_usd=usd))


async def test_estimate_lists_rejected_rows_counts_duplicates_once_and_stores_nothing(service: Service) -> None:
    service = service.with_services(typical_evaluations={"review": TYPICAL})
    async with service.open_caller() as caller:
        estimate = await request_estimate(caller)
        assert (estimate.rows, estimate.accepted, estimate.ideas, [row.row for row in estimate.rejected]) == (
            4,
            3,
            2,
            [4],
        )
        assert [(duplicate.row, duplicate.duplicate_of) for duplicate in estimate.duplicates] == [(3, 2)]
        assert (estimate.basis, estimate.llm_requests, estimate.cost_usd, estimate.high_cost_usd) == (
            "typical",
            120,
            0.8,
            1.0,
        )
        assert (estimate.hours_to_finish, estimate.remaining_this_month_usd, estimate.exceeds_monthly_budget) == (
            None,
            None,
            None,
        )
        assert estimate.hours_absent
        for path in ("/v1/batches", "/v1/evaluations"):
            assert (await caller.get(path)).json()["items"] == []


async def test_estimate_uses_own_evaluations_and_ignores_other_tenants(service: Service) -> None:
    service = service.with_services(typical_evaluations={"review": TYPICAL})
    await finish_evaluations(service, 12, 0.25)
    await finish_evaluations(service, 12, 7.0, OTHER)
    async with service.open_caller() as caller:
        estimate = await request_estimate(caller, max_usd="0.2")
        assert (estimate.basis, estimate.evaluations, estimate.llm_requests, estimate.prompt_tokens) == (
            "own",
            12,
            2,
            200,
        )
        assert (estimate.cost_usd, estimate.share_over_max_usd) == (0.4, 1.0)
        assert estimate.hours_to_finish is not None
        assert (await request_estimate(caller, method="grapheval")).cost_absent


async def test_estimate_states_gpu_hours_without_cached_tokens_if_the_speed_is_known(service: Service) -> None:
    await finish_evaluations(service, 12, 0.25)
    fast = service.with_services(gpu_speeds={"small": GpuSpeed(read=60, written=10)})
    async with fast.open_caller() as caller:
        estimate = await request_estimate(caller)
        assert (estimate.prompt_tokens, estimate.cached_prompt_tokens, estimate.completion_tokens) == (200, 80, 20)
        assert estimate.gpu_hours == estimate.high_gpu_hours == 2 * (60 / 60 + 10 / 10) / 3600
    large_board = service.with_services(gpu_speeds={"large": GpuSpeed(read=60, written=10)})
    async with large_board.open_caller() as caller:
        assert (await request_estimate(caller)).gpu_hours is None


async def test_command_prints_gpu_hours_and_the_cached_share(service: Service, program: Program) -> None:
    await finish_evaluations(service, 12, 0.25)
    async with serve(service.with_services(gpu_speeds={"small": GpuSpeed(read=100, written=10)}).app) as url:
        result = await Program(url, program.key, program.home).run("batch", "submit", "ideas", "--estimate")
    assert "with 100 prompt tokens (40% of them cached) and 10 answer tokens" in result.out
    assert "GPUs:    about 0.00044 hours; 0.00044 if every idea takes as long as the slowest tenth" in result.out


async def test_default_board_estimate_is_not_reused_for_another_board(service: Service) -> None:
    service = service.with_services(typical_evaluations={"innoeval": TYPICAL})
    async with service.open_caller() as caller:
        usual, innoeval_estimate = (
            await request_estimate(caller, method="innoeval"),
            await request_estimate(caller, method="innoeval", board="9"),
        )
    assert (usual.cost_usd, innoeval_estimate.cost_usd) == (0.8, None)
    assert innoeval_estimate.cost_absent is not None
    assert "The cost of a custom board is unknown" in innoeval_estimate.cost_absent


async def test_cost_is_absent_when_a_price_is_unknown(service: Service, client: httpx2.AsyncClient) -> None:
    await finish_evaluations(service, 12, None)
    estimate = await request_estimate(client)
    assert (estimate.basis, estimate.cost_usd, estimate.high_cost_usd, estimate.exceeds_monthly_budget) == (
        "own",
        None,
        None,
        None,
    )
    assert estimate.cost_absent is not None
    assert "of your last 12 evaluations is unknown" in estimate.cost_absent


async def test_estimate_reports_whether_the_monthly_budget_suffices(service: Service) -> None:
    service = service.with_services(typical_evaluations={"review": TYPICAL})
    await service.services.tenants.update(ACME, TenantPlan(name=ACME, monthly_usd=0.9))
    async with service.open_caller() as caller:
        estimate = await request_estimate(caller)
        assert (estimate.remaining_this_month_usd, estimate.exceeds_monthly_budget) == (0.9, True)
        assert (await request_estimate(caller, max_usd="0.4")).exceeds_monthly_budget is False


async def test_estimate_without_a_valid_idea_is_rejected_like_a_submission(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/batches/estimate", content=render_jsonl([{"title": "-"}]), headers=JSONL_HEADERS)
    assert (answer.status_code, answer.json()["rows"][0]["row"]) == (422, 1)


async def test_command_prints_the_estimate_and_submits_nothing(program: Program, service: Service) -> None:
    await finish_evaluations(service, 12, 0.25)
    result = await program.run("batch", "submit", "ideas", "--estimate")
    assert result.code == 0, result.err
    assert "bad.pdf" in result.err
    printed = dict(line.split(":", 1) for line in result.out.splitlines() if ":" in line)
    assert printed["Ideas"].strip() == "1 by review (not counting 1 refused)"
    assert printed["Cost"].strip().startswith("about $0.25;")
    assert printed["Budget"].strip() == "no monthly limit"
    assert printed["Basis"].strip() == "your last 12 evaluations by review"
    assert result.out.rstrip().endswith("Nothing was submitted.")
    assert len((await service.machine.get("/v1/evaluations")).json()["items"]) == 12


async def test_estimate_counts_the_requested_board(service: Service) -> None:
    asked_for: list[tuple[int | None, tuple[str, ...]]] = []

    def typical_board(board: int | None, models: Sequence[str]) -> TypicalEvaluation:
        asked_for.append((board, tuple(models)))
        return TYPICAL

    service = service.with_services(
        typical_evaluations={"innoeval": TYPICAL}, get_typical_board=typical_board, board_models=("large", "other")
    )
    await finish_evaluations(service, 12, 7.0)
    async with service.open_caller() as caller:
        estimate = await request_estimate(caller, method="innoeval", board="9", board_models="large, other")
        other_estimate = await request_estimate(caller, method="innoeval", board_models="other")
    assert asked_for == [(9, ("large", "other")), (None, ("other",))]
    assert (estimate.basis, estimate.cost_usd, other_estimate.cost_usd) == ("typical", 0.8, 0.8)


class _OfReefs(MemoryCorpus):
    async def fit(self, text: str, window: Window) -> CorpusFit:
        return CorpusFit(level="good" if "reef" in text else "poor", value=0.5, criterion="whether it names a reef")


async def test_estimate_reports_corpus_fit_or_the_reason_it_is_absent(
    service: Service, client: httpx2.AsyncClient, program: Program
) -> None:
    unknown = await request_estimate(client)
    assert (unknown.corpus_fit, unknown.corpus_fit_absent) == (None, "This service has no corpus to search.")
    corpora = MemoryCorpusVersions(_OfReefs(PAPERS, HashingEmbedder()))
    searching = service.with_services(corpora=corpora)
    rows = [{"text": make_idea_text(1)}, {"text": f"Of a reef. {make_idea_text(2)}"}]
    many = [{"text": f"{make_idea_text(number)} number {number}"} for number in range(90)]
    async with searching.open_caller() as caller:
        corpus_fit = (await request_estimate(caller, render_jsonl(rows))).corpus_fit
        assert corpus_fit is not None
        assert (
            corpus_fit.checked_proposals,
            corpus_fit.well_covered,
            corpus_fit.partly_covered,
            corpus_fit.poorly_covered,
        ) == (2, 1, 0, 1)
        some = (await request_estimate(caller, render_jsonl(many))).corpus_fit
        assert some is not None
        assert some.checked_proposals == 40
        graph = await request_estimate(caller, render_jsonl(rows), method="grapheval")
        assert (graph.corpus_fit, graph.corpus_fit_absent) == (None, "This method does not use literature.")
    result = await program.run("batch", "submit", "ideas", "--estimate")
    assert "Corpus:  not checked. This service has no corpus to search." in result.out


class _Slow(_OfReefs):
    async def fit(self, text: str, window: Window) -> CorpusFit:
        if "slow" in text:
            await asyncio.Event().wait()
        return await super().fit(text, window)


async def test_corpus_fit_covers_only_ideas_checked_in_time(service: Service) -> None:
    corpora = MemoryCorpusVersions(_Slow(PAPERS, HashingEmbedder()))
    services = service.with_services(corpora=corpora).services
    texts = ["of a reef", "of a tram", *["slow"] * 20]
    ideas = [
        Idea(id=IdeaId(str(number)), text=text, title="", sections=(), source="") for number, text in enumerate(texts)
    ]
    some = await estimate_fit(services, ideas[:4], None, timeout_seconds=2.0)
    assert not isinstance(some, Absent)
    assert (some.checked_proposals, some.well_covered, some.poorly_covered) == (2, 1, 1)
    none = await estimate_fit(services, ideas[2:], None, timeout_seconds=0.1)
    assert none == Absent(reason="The fit could not be checked within 0.1 s because the service is busy.")
