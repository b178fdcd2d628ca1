"""Jobs with many items: rewards, curations, proposals and scores."""

from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, Field, model_validator

from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import TERMINAL, Absent, Dollars, JobState, Page, Problem, Resource

__all__ = ["MOST_ITEMS", "AcceptedItems", "ItemCalls", "ItemCounts", "ItemLinks", "ItemOutcome", "ItemsPage"]

Asked = TypeVar("Asked", bound=BaseModel)
Receipt = TypeVar("Receipt")
Found = TypeVar("Found")
Ended = TypeVar("Ended")

MOST_ITEMS = 1_000
"""Items of one request."""
_HELD_SECONDS = 20.0
"""Seconds for which the service is asked to hold a response while there is nothing new."""
_AT_ONCE = 1_000


class ItemLinks(Resource):
    job: str
    items: str
    """Path of the outcomes, in the order in which they arrive."""
    events: str


class AcceptedItems(Resource):
    """Accepted items. They are stored, and each will end in a result or a problem."""

    id: str
    state: JobState = "queued"
    asked: int
    """Number of submitted items."""
    links: ItemLinks


class ItemOutcome(Resource):
    """Outcome of an item: a result, or a problem that states why there is none."""

    result_field: ClassVar[str]
    """Name of the field with the result."""
    item: int = Field(ge=0)
    """Position of the item in the request, from 0."""
    id: str = ""
    """Name that the caller uses for the item."""
    problem: Problem | None = None
    """Reason why there is no result."""
    same_as: int | None = None
    """Earlier item with the same words, whose outcome is reused at no further cost."""
    seconds: float = Field(default=0.0, ge=0)
    """Seconds from the start to the end of the item's work."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        if (getattr(self, self.result_field) is None) == (self.problem is None):
            raise ValueError(f"an item ends in a {self.result_field} or in a problem")
        return self


class ItemCounts(Resource):
    """Counts of the items by outcome; the outcome of each item is stored separately."""

    items: int
    absent: int
    """Number of items for which the model gave no usable answer; the outcome states why."""
    problem: int
    repeated: int
    """Number of items with the same words as an earlier item; each is also counted by that item's outcome."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent


class ItemsPage(Resource, Generic[Ended]):
    """Outcomes in order of arrival."""

    items: tuple[Ended, ...]
    last: int
    """Number to pass as `after` to continue reading."""
    state: JobState
    """State of the whole job: once it has ended and `items` is empty, all outcomes have been read."""

    @property
    def is_last(self) -> bool:
        return self.state in TERMINAL and not self.items


@dataclass(frozen=True)
class ItemCalls(Generic[Asked, Receipt, Found, Ended]):
    """API calls for one kind of multi-item job."""

    where: str
    """Path segment of the kind, such as `rewards`."""
    receipt: type[Receipt]
    found: type[Found]
    page: type[ItemsPage[Ended]]

    def create(self, body: Asked, *, key: str | None = None) -> ApiCall[Receipt]:
        """Submit all items. Repeated requests with the same `key` are executed once."""
        return ApiCall("POST", path(self.where), reads(self.receipt), body=body, key=key)

    def get(self, job: str) -> ApiCall[Found]:
        """Return the job with the outcomes available so far."""
        return ApiCall("GET", path(self.where, job), reads(self.found))

    def items(self, job: str, *, after: int = 0, limit: int = 100, seconds: float = 0.0) -> ApiCall[ItemsPage[Ended]]:
        """Return outcomes in order of arrival; with `seconds`, wait that long for the next one."""
        query = {"after": after, "limit": limit}
        headers = {"Prefer": f"wait={seconds:g}"} if seconds else {}
        where = path(self.where, job, "items")
        return ApiCall("GET", where, reads(self.page), query=query, headers=headers, seconds=seconds)

    def next_items(self, job: str, after: int) -> ApiCall[ItemsPage[Ended]]:
        """Return as many outcomes as fit in a response; if there are none, the service holds the response."""
        return self.items(job, after=after, limit=_AT_ONCE, seconds=_HELD_SECONDS)

    def list(self, *, after: str | None = None, limit: int = 50) -> ApiCall[Page[Found]]:
        """Return the caller's own jobs, newest first, without their items."""
        page = Page.__class_getitem__(self.found)
        return ApiCall("GET", path(self.where), reads(page), query={"after": after, "limit": limit})

    def cancel(self, job: str) -> ApiCall[Found]:
        return ApiCall("DELETE", path(self.where, job), reads(self.found))

    def erase(self, job: str) -> ApiCall[None]:
        return ApiCall("DELETE", path(self.where, job), reads_nothing, {"erase": "true"})
