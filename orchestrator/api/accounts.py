"""Bodies and resources of tenants, their keys and what they used; shared with the client."""

import datetime as dt
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from assayer.models.money import Dollars
from orchestrator.api.resources import Body, PageQuery, Resource
from orchestrator.jobs.models import JobKind, JobState
from orchestrator.jobs.tenancy import Scope

__all__ = [
    "Key",
    "KeyBody",
    "KeysQuery",
    "NewKey",
    "NewTenant",
    "TenantBody",
    "TenantPatch",
    "TenantResource",
    "TenantsQuery",
    "Usage",
    "UsageCount",
    "UsageQuery",
]

_FIRST, _LAST = dt.datetime(2000, 1, 1, tzinfo=dt.UTC), dt.datetime(2200, 1, 1, tzinfo=dt.UTC)


def _of_our_time(moment: dt.datetime) -> dt.datetime:
    if not _FIRST <= moment < _LAST:
        raise ValueError(f"It should lie between {_FIRST:%Y} and {_LAST:%Y}")
    return moment.astimezone(dt.UTC)


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("It should be a line of printable text")
    return text


Moment = Annotated[AwareDatetime, AfterValidator(_of_our_time)]
"""RFC 3339 with an offset."""
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
TenantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
"""Of a tenant among tenants."""
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Usd = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class TenantPatch(Body):
    """What is given replaces what was agreed; null is no limit."""

    name: Name = ""
    weight: float = Field(default=1.0, gt=0, le=1_000, allow_inf_nan=False)
    """Share of the service, in proportion to the weights of the others who ask at the time."""
    max_running: Count | None = None
    """Jobs at once."""
    max_queued: Count = 20_000
    """More are refused."""
    monthly_usd: Usd | None = None
    """Of a calendar month in UTC."""
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """So long after their end jobs are deleted with all that belongs to them."""


class TenantBody(TenantPatch):
    id: TenantName | None = None
    """Drawn when it is not given."""
    name: Name


class NewTenant(Resource):
    id: str
    name: str
    weight: float
    max_running: int | None
    """Null: no limit."""
    max_queued: int
    monthly_usd: float | None
    """Null: no limit."""
    retention_days: int | None
    """Null: kept until they are deleted."""


class TenantResource(NewTenant):
    created_at: dt.datetime


class TenantsQuery(PageQuery):
    after: TenantName | None = None
    """`next` of the page before."""


class KeyBody(Body):
    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=4)
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Null: what the service's settings say."""
    expires_at: Moment | None = None
    """Null: never."""
    tenant: TenantName | None = None
    """Another than one's own takes the scope `admin`."""


class NewKey(Resource):
    id: str
    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    expires_at: dt.datetime | None
    secret: str
    """The key itself. It is shown here and never again."""


class Key(Resource):
    id: str
    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    """Null: what the service's settings say."""
    created_at: dt.datetime
    expires_at: dt.datetime | None
    """Null: never."""
    revoked_at: dt.datetime | None


class KeysQuery(Body):
    tenant: TenantName | None = None
    """Another than one's own takes the scope `admin`."""


class UsageQuery(Body):
    since: Moment | None = None
    """Without it: the first of this month, in UTC."""
    until: Moment | None = None
    """Not included. Without it: now."""
    tenant: TenantName | None = None
    """Another than one's own takes the scope `admin`."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError("`since` should lie before `until`")
        return self


class UsageCount(Resource):
    kind: JobKind
    state: JobState
    jobs: int


class Usage(Resource):
    """Of jobs that are still kept; figures of the month's budget outlive them."""

    tenant: str
    since: dt.datetime
    until: dt.datetime
    jobs: tuple[UsageCount, ...]
    """Accepted in the span, by the state in which they are now."""
    calls: int
    """Of language models in the span, answers from the cache included."""
    cached: int
    prompt_tokens: int
    """Of calls that were sent."""
    completion_tokens: int
    cost_usd: Dollars | None
    cost_absent: str | None
    """Why the cost is null."""
    spent_this_month_usd: float
    """By jobs that have ended."""
    reserved_usd: float
    """For jobs that run, of the month's budget."""
    monthly_usd: float | None
    """Null: no limit."""
