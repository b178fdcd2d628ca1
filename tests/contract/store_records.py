"""Values that the store's tests write."""

import datetime as dt

from assayer.models import (
    Absent,
    CachedAnswer,
    CallRecord,
    Coverage,
    EvaluationId,
    Fault,
    IdeaCard,
    IdeaId,
    LedgerRow,
    Paper,
    PaperId,
    Provenance,
    Report,
    RunUsage,
    Summary,
)

AT = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


def call(
    task: str = "scholareval.methods",
    model: str = "small",
    cost_usd: float | None = 0.25,
    cached: bool = False,
    faults: tuple[Fault, ...] = (),
) -> CallRecord:
    return CallRecord(
        task=task,
        version=1,
        model=model,
        prompt_tokens=100,
        cached_prompt_tokens=40,
        completion_tokens=10,
        cost_usd=cost_usd,
        latency_seconds=2.0,
        attempts=1 + len(faults),
        faults=faults,
        cached=cached,
    )


def answer(key: str, value: str = '{"methods": []}') -> CachedAnswer:
    return CachedAnswer(key=key, value=value, record=call())


def build_answered_row(key: str, run_id: str = "run", record: CallRecord | None = None) -> LedgerRow:
    return LedgerRow(run_id=run_id, key=key, record=record or call(), outcome="answered", at=AT)


def build_failed_row(key: str, run_id: str = "run", error: str = "The endpoint is down.") -> LedgerRow:
    fault = Fault(kind="connection", detail="refused")
    return LedgerRow(run_id=run_id, key=key, record=call(faults=(fault,)), outcome="failed", error=error, at=AT)


def build_paper(number: int, abstract: str = "We study ore.") -> Paper:
    return Paper(
        id=PaperId(f"corpus:{number}"),
        title=f"On ore, part {number}",
        abstract=abstract,
        authors=("A. Sayer", "B. Jørgensen"),
        publication_date=dt.date(2024, 3, 31),
        source="corpus",
    )


def report(evaluation: str = "ev_1", text: str = "We smelt it.") -> Report:
    empty_summary = Summary(strengths=(), weaknesses=(), suggestions=())
    return Report(
        evaluation_id=EvaluationId(evaluation),
        method="scholareval",
        idea=IdeaCard(id=IdeaId("idea"), title="Ore", source="idea.txt", text=text, flags=()),
        cutoff=dt.date(2025, 1, 1),
        notices=(),
        summary=empty_summary,
        parts=(),
        references=(),
        coverage=Coverage(
            corpus_fit=Absent(reason="Not measured."),
            sources=(),
            papers_found=2,
            papers_read=2,
            papers_cited=2,
            full_texts=0,
            quotes_verified=0,
            quotes_unverified=0,
            llm_requests=0,
            llm_requests_failed=0,
            faults=(),
            dropped=(),
        ),
        provenance=Provenance(
            assayer_version="0.1.0",
            models=(),
            embedding_model="small",
            prompts=(),
            corpus_version="c1",
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=Absent(reason="No LLM."),
        ),
        usage=RunUsage(
            started_at=AT,
            wall_seconds=1.0,
            llm_requests_paid=0,
            llm_requests_cached=0,
            paid_usd=Absent(reason="No LLM."),
        ),
    )
