"""Comparisons, rankings, the corpus and webhooks, as calls."""

from assayer.models.ranking import Ranking
from orchestrator.api.comparison_resources import AcceptedComparison, ComparisonBody, ComparisonResource
from orchestrator.api.corpus_resources import CorpusBody, CorpusSearch
from orchestrator.api.ranking_resources import AcceptedRanking, RankingBody, RankingResource
from orchestrator.api.resources import Event, Page
from orchestrator.api.webhook_resources import DeliveryResource, NewWebhook, WebhookBody, WebhookResource
from orchestrator.client.calls import Call, path, reads, reads_nothing, reads_text
from orchestrator.client.following import Stream
from orchestrator.jobs.models import TERMINAL

__all__ = [
    "cancel_comparison",
    "cancel_ranking",
    "compare",
    "comparison",
    "comparison_events",
    "comparisons",
    "create_webhook",
    "delete_webhook",
    "deliveries",
    "has_verdict",
    "rank",
    "ranking",
    "ranking_events",
    "ranking_report",
    "ranking_text",
    "rankings",
    "search_corpus",
    "webhooks",
]


def compare(body: ComparisonBody, *, key: str | None = None) -> Call[AcceptedComparison]:
    """Asks which of two ideas is better."""
    return Call("POST", path("comparisons"), reads(AcceptedComparison), body=body, key=key)


def comparison(job: str) -> Call[ComparisonResource]:
    """Where it stands, with its result once it is done."""
    return Call("GET", path("comparisons", job), reads(ComparisonResource))


def comparisons(*, after: str | None = None, limit: int = 50) -> Call[Page[ComparisonResource]]:
    """One's own, the newest first."""
    return Call("GET", path("comparisons"), reads(Page[ComparisonResource]), query={"after": after, "limit": limit})


def cancel_comparison(job: str) -> Call[ComparisonResource]:
    return Call("DELETE", path("comparisons", job), reads(ComparisonResource))


def rank(body: RankingBody, *, key: str | None = None) -> Call[AcceptedRanking]:
    """Asks for an order of ideas, or of the reports of a batch."""
    return Call("POST", path("rankings"), reads(AcceptedRanking), body=body, key=key)


def ranking(job: str) -> Call[RankingResource]:
    """Where it stands."""
    return Call("GET", path("rankings", job), reads(RankingResource))


def rankings(*, after: str | None = None, limit: int = 50) -> Call[Page[RankingResource]]:
    """One's own, the newest first."""
    return Call("GET", path("rankings"), reads(Page[RankingResource]), query={"after": after, "limit": limit})


def ranking_report(job: str) -> Call[Ranking]:
    """Raises ApiProblem (409) saying why when there is none."""
    return Call("GET", path("rankings", job, "report"), reads(Ranking))


def ranking_text(job: str, media_type: str = "text/markdown") -> Call[str]:
    """As `text/markdown`, `text/html`, `text/csv` or `application/json`, to the letter."""
    return Call("GET", path("rankings", job, "report"), reads_text, headers={"Accept": media_type})


def cancel_ranking(job: str) -> Call[RankingResource]:
    return Call("DELETE", path("rankings", job), reads(RankingResource))


def comparison_events(job: str) -> Stream[Event]:
    return _events("comparisons", job)


def ranking_events(job: str) -> Stream[Event]:
    return _events("rankings", job)


def _events(kind: str, job: str) -> Stream[Event]:
    return Stream(path(kind, job, "events"), Event, lambda event: event.kind in TERMINAL)


def has_verdict(found: ComparisonResource | RankingResource) -> bool:
    return found.state in TERMINAL


def search_corpus(body: CorpusBody) -> Call[CorpusSearch]:
    """Papers of the local corpus for each query."""
    return Call("POST", path("corpus", "search"), reads(CorpusSearch), body=body)


def create_webhook(body: WebhookBody, *, key: str | None = None) -> Call[NewWebhook]:
    """Only this answer holds the secret, with which `verified` reads what comes."""
    return Call("POST", path("webhooks"), reads(NewWebhook), body=body, key=key)


def webhooks() -> Call[Page[WebhookResource]]:
    return Call("GET", path("webhooks"), reads(Page[WebhookResource]))


def deliveries(webhook: str, *, limit: int = 50) -> Call[Page[DeliveryResource]]:
    """What was sent, and what was said to it; the newest first."""
    return Call("GET", path("webhooks", webhook, "deliveries"), reads(Page[DeliveryResource]), query={"limit": limit})


def delete_webhook(webhook: str) -> Call[None]:
    return Call("DELETE", path("webhooks", webhook), reads_nothing)
