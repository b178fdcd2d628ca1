"""Shared code for the routes of jobs with many items: reading outcomes as they arrive, and response bodies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from assayer.reports.wording import format_count
from assayer_client.item_jobs import AcceptedItems, ItemLinks, ItemOutcome, ItemsPage
from assayer_client.resources import JobResource, LivePriority
from orchestrator.api.event_streams import wait_for_outcomes
from orchestrator.api.job_routes import JobRoutes, PreferHeader, Submission, get_job_fields, get_path_segment
from orchestrator.api.url_queries import UrlQuery
from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.jobs.models import Job, JobKind
from orchestrator.jobs.requests import CandidateIdeasRequest, CurationRequest, RewardsRequest, ScoreRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import PgItemOutcomes
from orchestrator.web.authentication import Reader
from orchestrator.web.backpressure import UploadLimit
from orchestrator.web.content_negotiation import parse_preferred_wait
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, StreamLimitDependency

OutcomeT = TypeVar("OutcomeT", bound=ItemOutcome)
Body = TypeVar("Body")
Converted = TypeVar("Converted")
R = TypeVar("R", bound=JobResource)
ItemRequest: TypeAlias = CurationRequest | CandidateIdeasRequest | RewardsRequest | ScoreRequest

_ID_PREFIXES: Mapping[JobKind, str] = {"curation": "cu", "candidate_ideas": "ci", "rewards": "rw", "score": "sc"}


class ItemsQuery(UrlQuery):
    after: int = Field(default=0, ge=0, le=2**31 - 1)
    """`last` from the previous response."""
    limit: int = Field(default=100, ge=1, le=1_000)


@dataclass(frozen=True)
class ItemRoutes(Generic[R, OutcomeT]):
    """The routes for one kind of job with many items."""

    router: APIRouter
    kind: JobKind
    item_noun: str
    """Noun for one item, such as `paper`."""
    resource: type[R]
    page: type[ItemsPage[Any]]
    result: type[BaseModel]
    get_store: Callable[[Services], PgItemOutcomes[OutcomeT]]

    async def accept(
        self,
        submission: Submission,
        request: ItemRequest,
        priority: LivePriority,
        receipt_model: type[AcceptedItems],
        **extra_fields: Any,
    ) -> Response:
        """Accept a job with these items. If the caller prefers to wait, return the ended job."""
        job = submission.new_id(_ID_PREFIXES[self.kind])
        new_job = NewJob(
            id=job, request=request, subject=format_count(len(request.items), self.item_noun), priority=priority
        )
        links = self._build_links(job)
        receipt = receipt_model(id=job, item_count=len(request.items), links=links, **extra_fields)
        return await submission.respond(new_job, links.job, receipt, self.show)

    def _build_links(self, job: str) -> ItemLinks:
        return build_item_links(self.kind, job)

    async def show(self, services: Services, job: Job) -> R:
        store = self.get_store(services)
        return self.resource.model_validate(
            {
                **get_job_fields(job),
                "item_count": await store.count_items(job.id),
                "items": await store.list_outcomes(job.id),
                "result": await services.jobs.get_result(job.tenant, job.id, self.result)
                if job.state == "succeeded"
                else None,
                "links": self._build_links(job.id),
            }
        )

    def summarise(self, job: Job) -> R:
        fields = {
            **get_job_fields(job),
            "item_count": None,
            "items": None,
            "result": None,
            "links": self._build_links(job.id),
        }
        return self.resource.model_validate(fields)

    def add_routes(self) -> None:
        routes = JobRoutes(self.router, self.kind, self.resource, self.summarise, self.show)
        self._add_items_route()
        routes.add_list_route(f"List the tenant's {routes.plural}, newest first, without their items.")
        routes.add_get_route(f"Return the job with the outcomes available so far, in {self.item_noun} order.")
        routes.add_cancel_route()

    def _add_items_route(self) -> None:
        async def list_items(
            id: PathId,
            request: Request,
            context: Reader,
            streams: StreamLimitDependency,
            query: Annotated[ItemsQuery, Query()],
            prefer: PreferHeader = None,
        ) -> ItemsPage[Any]:
            """Return the outcomes that arrived after outcome `after`. If there are none yet and the request has
            `Prefer: wait=N`, wait up to N seconds for the next one."""
            job = await context.find_job(id, self.kind)
            store = self.get_store(context.services)
            page = await store.list_after(job.id, query.after, query.limit)
            seconds = parse_preferred_wait(prefer or (), context.services.settings.max_wait_seconds)
            if not page.outcomes and seconds is not None and streams.has_room(context.tenant):
                with streams.hold(context.tenant, request.scope):
                    await wait_for_outcomes(seconds, context.services, store, job, query.after)
                job = await context.find_job(id, self.kind)
                page = await store.list_after(job.id, query.after, query.limit)
            return self.page.model_validate({"items": page.outcomes, "last": page.last, "state": job.state})

        self.router.get(
            "/{id}/items",
            name=f"list_{self.kind.removesuffix('s')}_items",
            response_model=self.page,
        )(list_items)


def build_item_links(kind: JobKind, job: str) -> ItemLinks:
    path = f"/v1/{get_path_segment(kind)}/{job}"
    return ItemLinks(job=path, items=f"{path}/items", events=f"{path}/events")


async def read_items(
    submission: Submission, uploads: UploadLimit, convert: Callable[[int, Body], Converted], bodies: Sequence[Body]
) -> tuple[Converted, ...]:
    """Convert each item in a worker thread that counts against the upload limit; `convert` gets its position (from 0)
    and the item. Raises HttpProblem if an item is invalid."""

    def convert_items(is_abandoned: Callable[[], bool]) -> tuple[Converted, ...]:
        items = list[Converted]()
        for position, body in enumerate(bodies):
            if is_abandoned():
                raise ReadingAbandoned
            items.append(convert(position, body))
        return tuple(items)

    return await uploads.parse(submission.request, submission.context.tenant, convert_items)
