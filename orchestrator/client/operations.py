"""What can be asked of the service, as calls: a function each, with the parameters of the client's method."""

from assayer.models import Report
from assayer.models.timeline import Timeline
from orchestrator.api.resources import Accepted, Evaluation, EvaluationBody, Event, Method, Page
from orchestrator.client.calls import Call, path, reads, reads_nothing, reads_text
from orchestrator.client.following import Stream
from orchestrator.jobs.models import TERMINAL, JobState

__all__ = [
    "cancel",
    "erase",
    "evaluation",
    "evaluations",
    "events",
    "has_verdict",
    "methods",
    "report",
    "report_text",
    "submit",
    "timeline",
]


def submit(body: EvaluationBody, *, key: str | None = None) -> Call[Accepted]:
    """Asks for an evaluation; it is stored when this returns. The same `key` asks for the same again."""
    return Call("POST", path("evaluations"), reads(Accepted), body=body, key=key)


def evaluation(job: str) -> Call[Evaluation]:
    """Where it stands."""
    return Call("GET", path("evaluations", job), reads(Evaluation))


def evaluations(
    *, state: JobState | None = None, batch: str | None = None, after: str | None = None, limit: int = 50
) -> Call[Page[Evaluation]]:
    """One's own, the newest first; `after` is `next` of the page before."""
    query = {"state": state, "batch": batch, "after": after, "limit": limit}
    return Call("GET", path("evaluations"), reads(Page[Evaluation]), query=query)


def report(job: str) -> Call[Report]:
    """Raises ApiProblem (409) saying why when there is none."""
    return Call("GET", path("evaluations", job, "report"), reads(Report))


def report_text(job: str, media_type: str = "text/markdown") -> Call[str]:
    """As `text/markdown`, `text/html` or `application/json`, to the letter."""
    return Call("GET", path("evaluations", job, "report"), reads_text, headers={"Accept": media_type})


def timeline(job: str) -> Call[Timeline]:
    """What ran when."""
    return Call("GET", path("evaluations", job, "timeline"), reads(Timeline))


def cancel(job: str) -> Call[Evaluation]:
    """Nothing more is spent on it. What has ended stays as it is."""
    return Call("DELETE", path("evaluations", job), reads(Evaluation))


def erase(job: str) -> Call[None]:
    """Cancels it and deletes it with its report and its events. Takes the scope `manage`."""
    return Call("DELETE", path("evaluations", job), reads_nothing, query={"erase": "true"})


def methods() -> Call[Page[Method]]:
    return Call("GET", path("methods"), reads(Page[Method]))


def events(job: str) -> Stream[Event]:
    return Stream(path("evaluations", job, "events"), Event, lambda event: event.kind in TERMINAL)


def has_verdict(found: Evaluation) -> bool:
    return found.state in TERMINAL
