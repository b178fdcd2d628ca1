"""Jobs with many items: rewards, curations, candidate ideas and scores."""

from collections.abc import Callable
from typing import ClassVar, Generic, Self, TypeVar

from pydantic import Field, model_validator

from assayer_client.requests import ApiCall, build_path, make_json_parser
from assayer_client.resources import TERMINAL, Absent, Dollars, JobState, Problem, Resource

Ended = TypeVar("Ended")

MAX_ITEMS = 1_000
"""Maximum number of items in one request."""
_HELD_SECONDS = 20.0
"""Seconds for which the service is asked to hold its response while there are no new outcomes."""


class ItemLinks(Resource):
    job: str
    items: str
    """Path to the outcomes, which are listed in order of arrival."""
    events: str


class AcceptedItems(Resource):
    """Accepted items. They are stored, and each will end in a result or a problem."""

    id: str
    state: JobState = "queued"
    item_count: int
    """Number of submitted items."""
    links: ItemLinks


class ItemOutcome(Resource):
    """An item's outcome: a result, or a problem that says why there is none."""

    result_field: ClassVar[str]
    """Name of the field that contains the result."""
    item: int = Field(ge=0)
    """The item's position in the request, from 0."""
    id: str = ""
    """The caller's name for the item."""
    problem: Problem | None = None
    """Why there is no result."""
    duplicate_of: int | None = None
    """Number of an earlier item with the same text, whose outcome is reused without further cost."""
    seconds: float = Field(default=0.0, ge=0)
    """Seconds from the start of the item's work to its end."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        if (getattr(self, self.result_field) is None) == (self.problem is None):
            raise ValueError(f"an item must have exactly one of {self.result_field} and problem")
        return self


class ItemCounts(Resource):
    """Number of items by outcome. Each item's outcome is stored separately."""

    items: int
    absent: int
    """Number of items for which the model gave no usable answer. Each item's outcome says why."""
    problem: int
    repeated: int
    """Number of items with the same text as an earlier item. Each is also counted under that item's outcome."""
    llm_requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent


class ItemsPage(Resource, Generic[Ended]):
    """Outcomes in order of arrival."""

    items: tuple[Ended, ...]
    last: int
    """Number to pass as `after` to continue reading."""
    state: JobState
    """State of the whole job. If it has ended and `items` is empty, all outcomes have been read."""

    @property
    def is_last(self) -> bool:
        return self.state in TERMINAL and not self.items


def build_items_call(
    collection: str, page: type[ItemsPage[Ended]], job: str, *, after: int, limit: int, seconds: float
) -> ApiCall[ItemsPage[Ended]]:
    """Build the request for a job's outcomes in order of arrival; `collection` is the jobs' path segment."""
    headers = {"Prefer": f"wait={seconds:g}"} if seconds else {}
    query = {"after": after, "limit": limit}
    return ApiCall(
        "GET",
        build_path(collection, job, "items"),
        make_json_parser(page),
        query=query,
        headers=headers,
        seconds=seconds,
    )


def make_next_items_call(
    collection: str, page: type[ItemsPage[Ended]], job: str
) -> Callable[[int], ApiCall[ItemsPage[Ended]]]:
    """Return a function that builds the request for all outcomes after a number. The service holds its response while
    there are none."""
    return lambda after: build_items_call(collection, page, job, after=after, limit=MAX_ITEMS, seconds=_HELD_SECONDS)
