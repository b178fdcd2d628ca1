"""A typed client of the service, in two forms with one surface.

async with AsyncClient("https://assayer.example.org", key) as assayer:
    report = await assayer.evaluate(EvaluationBody(idea=IdeaBody(text=...)))
"""

from orchestrator.api.resources import EvaluationBody, IdeaBody
from orchestrator.client.asynchronous import AsyncClient
from orchestrator.client.calls import Upload
from orchestrator.client.failures import ApiProblem, ProblemAt, ServiceUnreachable
from orchestrator.client.settings import Deadlines, Patience
from orchestrator.client.synchronous import Client
from orchestrator.client.webhooks import verified

__all__ = [
    "ApiProblem",
    "AsyncClient",
    "Client",
    "Deadlines",
    "EvaluationBody",
    "IdeaBody",
    "Patience",
    "ProblemAt",
    "ServiceUnreachable",
    "Upload",
    "verified",
]
