"""Users of the service during a run: tenants that submit, resend, cancel, and record what was accepted."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.sax.saxutils import escape

from assayer_client import (
    ApiProblem,
    AsyncClient,
    EvaluationBody,
    IdeaBody,
    KeyBody,
    RetryPolicy,
    TenantBody,
    Upload,
)
from benchmarks.chaos.findings import Accepted
from benchmarks.chaos.ledger_audit import Erased
from benchmarks.waiting import wait_until

_RETRIES = RetryPolicy(attempts=1000, seconds=600.0, longest_pause=2.0)
_POLL_SECONDS = 1.0
_GONE = 410
_WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_REQUESTS_PER_MINUTE = 60_000
"""Rate limit of keys in requests per minute, high enough not to matter."""


class Submission(NamedTuple):
    at: float
    """Earliest time of the submission, in seconds from the start."""
    tenant: int
    text: str
    is_sent_twice: bool
    """Whether it is sent twice at once with the same idempotency key, as by an impatient client."""
    cancelled_after: float | None
    """Seconds after which the tenant cancels it; None: never."""
    erased_after: float | None = None
    """Seconds after which it is erased, whatever its state; None: never."""
    as_document: bool = False
    """Whether it is sent as a file, which the service reads when the evaluation starts."""


Tenants = Sequence[AsyncClient]


def plan_submissions(
    seed: int,
    texts: Sequence[str],
    tenants: int,
    seconds: float,
    erased_share: float = 0.0,
    document_share: float = 0.0,
    cancelled_share: float = 0.1,
) -> list[Submission]:
    """Return submissions spread evenly over `seconds`. One in five is sent twice; `erased_share`, `document_share` and
    `cancelled_share` are shares of the submissions."""
    random = Random(f"crowd {seed}")
    # Never both: after a cancellation and an erasure, it is unknown which calls were recorded in between.
    return [
        Submission(
            at=seconds * number / len(texts),
            tenant=random.randrange(tenants),
            text=text,
            is_sent_twice=random.random() < 0.2,
            cancelled_after=(
                cancel_seconds := random.uniform(0.0, 10.0) if random.random() < cancelled_share else None
            ),
            erased_after=random.uniform(0.0, 60.0)
            if random.random() < erased_share and cancel_seconds is None
            else None,
            as_document=random.random() < document_share,
        )
        for number, text in enumerate(texts)
    ]


@asynccontextmanager
async def open_tenants(address: str, admin_key: str, count: int) -> AsyncIterator[Tenants]:
    """Create tenants with weights 1, 2, … and yield a client for each."""
    async with AsyncExitStack() as stack:
        operator = await stack.enter_async_context(AsyncClient(address, admin_key, retries=_RETRIES))
        clients = []
        for number in range(count):
            name = f"tenant-{number}"
            await operator.tenants.create(TenantBody(id=name, name=name, weight=number + 1.0))
            plan = KeyBody(
                name="chaos", tenant=name, scopes=("submit", "read", "manage"), requests_per_minute=_REQUESTS_PER_MINUTE
            )
            key = (await operator.keys.create(plan)).secret
            clients.append(await stack.enter_async_context(AsyncClient(address, key, retries=_RETRIES)))
        yield clients


async def submit_all(
    tenants: Tenants, submissions: Sequence[Submission], accepted_file: Path, erasures_file: Path
) -> None:
    """Make all submissions, including their cancellations and erasures. Acceptances are written to `accepted_file` and
    erasures to `erasures_file` immediately."""
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number, submission in enumerate(submissions):
            group.create_task(
                _submit(
                    tenants[submission.tenant], f"chaos-{number}", submission, (accepted_file, erasures_file), began
                )
            )


async def _submit(
    client: AsyncClient, key: str, submission: Submission, records: tuple[Path, Path], began: float
) -> None:
    await asyncio.sleep(max(0.0, began + submission.at - asyncio.get_running_loop().time()))
    job_ids = await asyncio.gather(*(_send(client, key, submission) for _ in range(1 + submission.is_sent_twice)))
    for job in job_ids:
        _append_line(records[0], Accepted(tenant=f"tenant-{submission.tenant}", key=key, job=job))
    if submission.cancelled_after is not None:
        await asyncio.sleep(submission.cancelled_after)
        await client.evaluations.cancel(job_ids[0])
    if submission.erased_after is not None:
        await asyncio.sleep(submission.erased_after)
        try:
            await client.evaluations.erase(job_ids[0])
        except ApiProblem as problem:
            if problem.status != _GONE:  # already erased by an attempt whose response was lost
                raise
        _append_line(records[1], Erased(job=job_ids[0], marker=submission.text.splitlines()[-1]))


async def _send(client: AsyncClient, key: str, submission: Submission) -> str:
    """Submit an evaluation and return its id."""
    if not submission.as_document:
        return (await client.evaluations.create(EvaluationBody(idea=IdeaBody(text=submission.text)), key=key)).id
    batch = await client.batches.create(files=[Upload(f"{key}.docx", build_word_document(submission.text))], key=key)
    (evaluation,) = (await client.evaluations.list(batch=batch.id)).items
    return evaluation.id


def _append_line(record: Path, line: Accepted | Erased) -> None:
    with record.open("a", encoding="utf-8") as file:
        file.write(line.model_dump_json() + "\n")


def build_word_document(text: str) -> bytes:
    """Return an uncompressed Word document, so that its words can be found in the file."""
    paragraphs = "".join(f"<w:p><w:r><w:t>{escape(line)}</w:t></w:r></w:p>" for line in text.splitlines() if line)
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": _RELATIONS,
        "word/document.xml": f'<w:document xmlns:w="{_WORD_NAMESPACE}"><w:body>{paragraphs}</w:body></w:document>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


async def wait_until_all_ended(tenants: Tenants, seconds: float) -> None:
    """Wait until the service reports that all evaluations have ended; the report is verified later. Raises
    TimeoutError."""

    async def have_ended() -> bool:
        return not any([await _is_busy(client) for client in tenants])

    await wait_until(have_ended, seconds, _POLL_SECONDS)


async def _is_busy(client: AsyncClient) -> bool:
    queued_jobs = await client.evaluations.list(state="queued", limit=1)
    running_jobs = await client.evaluations.list(state="running", limit=1)
    return bool(queued_jobs.items or running_jobs.items)
