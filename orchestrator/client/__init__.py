"""A typed client of the service, in two forms with one surface.

async with AsyncClient("https://assayer.example.org", key) as assayer:
    report = await assayer.evaluate(EvaluationBody(idea=IdeaBody(text=...)))
"""

from orchestrator.api.accounts import KeyBody, TenantBody, TenantPatch
from orchestrator.api.batch_resources import BatchQuery, MoreRowsQuery
from orchestrator.api.comparison_resources import ComparisonBody
from orchestrator.api.corpus_resources import CorpusBody
from orchestrator.api.ranking_resources import RankedIdeaBody, RankingBody
from orchestrator.api.resources import EvaluationBody, IdeaBody
from orchestrator.api.webhook_resources import WebhookBody
from orchestrator.client.asynchronous import AsyncClient
from orchestrator.client.calls import Upload
from orchestrator.client.failures import ApiProblem, ProblemAt, ServiceUnreachable
from orchestrator.client.settings import Deadlines, Patience
from orchestrator.client.synchronous import Client
from orchestrator.client.webhooks import verified

__all__ = [
    "ApiProblem",
    "AsyncClient",
    "BatchQuery",
    "Client",
    "ComparisonBody",
    "CorpusBody",
    "Deadlines",
    "EvaluationBody",
    "IdeaBody",
    "KeyBody",
    "MoreRowsQuery",
    "Patience",
    "ProblemAt",
    "RankedIdeaBody",
    "RankingBody",
    "ServiceUnreachable",
    "TenantBody",
    "TenantPatch",
    "Upload",
    "WebhookBody",
    "verified",
]
