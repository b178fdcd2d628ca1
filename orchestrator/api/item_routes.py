"""What the routes of jobs of many items share: outcomes read as they come, and the bodies of what they answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import Field

from orchestrator.api.authentication import Reader
from orchestrator.api.backpressure import UploadLimit
from orchestrator.api.common_schemas import Body, JobResource, Resource
from orchestrator.api.content_negotiation import preferred_wait
from orchestrator.api.event_streams import wait_for_outcomes
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import PreferHeader, find_job, job_fields
from orchestrator.api.openapi import problem_responses
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.jobs.item_outcomes import ItemOutcome, ItemsResult
from orchestrator.jobs.models import Job, JobKind, JobState, TenantId
from orchestrator.store import PgItemOutcomes

__all__ = [
    "MOST_ITEMS",
    "AcceptedItems",
    "ItemJobResource",
    "ItemLinks",
    "ItemRoutes",
    "ItemsPage",
    "counted",
    "item_links",
    "read_items",
]

MOST_ITEMS = 1_000
"""Of one request."""

Ended = TypeVar("Ended", bound=ItemOutcome)
Given = TypeVar("Given")
Read = TypeVar("Read")
P = TypeVar("P", bound="ItemsPage")


class ItemLinks(Resource):
    job: str
    items: str
    """Outcomes in the order in which they come."""
    events: str


class AcceptedItems(Resource):
    """The items are stored, and each will end in a result or a problem."""

    id: str
    state: JobState = "queued"
    asked: int
    """How many items were sent in."""
    links: ItemLinks


class ItemJobResource(JobResource):
    """A job of many items; each kind adds its outcomes as `items`."""

    asked: int | None
    """How many items were sent in; null in lists."""
    result: ItemsResult | None
    """How many ended how; null until the state is done, and in lists."""
    links: ItemLinks


class ItemsPage(Resource):
    """Outcomes in the order in which they came; each kind adds them as `items`."""

    last: int
    """Give it as `after` to read on."""
    state: JobState
    """Of the whole request: once it has ended and `items` is empty, all have been read."""


class ItemsQuery(Body):
    after: int = Field(default=0, ge=0, le=2**31 - 1)
    """`last` of the answer before."""
    limit: int = Field(default=100, ge=1, le=1_000)


@dataclass(frozen=True)
class ItemRoutes(Generic[Ended, P]):
    router: APIRouter
    kind: JobKind
    page: type[P]
    stored: Callable[[Services], PgItemOutcomes[Ended]]

    def add_outcomes(self) -> None:
        async def outcomes(
            id: PathId,
            request: Request,
            caller: Reader,
            services: ServicesDependency,
            streams: StreamLimitDependency,
            query: Annotated[ItemsQuery, Query()],
            prefer: PreferHeader = None,
        ) -> ItemsPage:
            """Outcomes as they come; with `Prefer: wait=N`, as soon as there is another one."""
            job = await find_job(services, caller.tenant, id, self.kind)
            stored = self.stored(services)
            found = await stored.after(job.id, query.after, query.limit)
            seconds = preferred_wait(prefer or (), services.settings.max_wait_seconds)
            if not found.outcomes and seconds is not None and streams.has_room(caller.tenant):
                with streams.hold(caller.tenant, request.scope):
                    await wait_for_outcomes(seconds, services, stored, job, query.after)
                job = await find_job(services, caller.tenant, id, self.kind)
                found = await stored.after(job.id, query.after, query.limit)
            return self.page.model_validate({"items": found.outcomes, "last": found.last, "state": job.state})

        self.router.get("/{id}/items", response_model=self.page, responses=problem_responses(404, 410, 422))(outcomes)

    async def shown(self, services: Services, job: Job) -> dict[str, Any]:
        """Of a resource, all that a job of many items has."""
        stored = self.stored(services)
        result = await services.jobs.result(job.tenant, job.id, ItemsResult) if job.state == "done" else None
        return {
            **job_fields(job),
            "asked": await stored.asked(job.id),
            "items": await stored.outcomes(job.id),
            "result": result,
            "links": item_links(self.kind, job.id),
        }

    def summarised(self, job: Job) -> dict[str, Any]:
        links = item_links(self.kind, job.id)
        return {**job_fields(job), "asked": None, "items": None, "result": None, "links": links}


def item_links(kind: JobKind, job: str) -> ItemLinks:
    own = f"/v1/{kind}s/{job}"
    return ItemLinks(job=own, items=f"{own}/items", events=f"{own}/events")


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"


async def read_items(
    request: Request, tenant: TenantId, uploads: UploadLimit, read: Callable[[int, Given], Read], given: Sequence[Given]
) -> tuple[Read, ...]:
    """Each with its place, from 0, as the rows of an upload are read. Raises HttpProblem."""

    def work(is_abandoned: Callable[[], bool]) -> tuple[Read, ...]:
        found = list[Read]()
        for place, one in enumerate(given):
            if is_abandoned():
                raise ReadingAbandoned
            found.append(read(place, one))
        return tuple(found)

    return await uploads.parse(request, tenant, work)
