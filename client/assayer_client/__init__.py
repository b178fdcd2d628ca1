"""A typed client of an assayer service, in two forms with the same methods.

    from assayer_client import Client, EvaluationBody, IdeaBody

    with Client("https://assayer.example.org", key) as assayer:
        report = assayer.evaluate(EvaluationBody(idea=IdeaBody(text="...")))

`AsyncClient` has the same methods, to be awaited. Both are loaded when they are first named: the service imports the
models of this package, and needs no HTTP client for them.
"""

from typing import TYPE_CHECKING, Any

from assayer_client.accounts import KeyBody, TenantBody, TenantPatch
from assayer_client.batches import BatchPatch, BatchQuery, MoreRowsQuery
from assayer_client.comparisons import ComparisonBody
from assayer_client.corpus import CorpusBody
from assayer_client.curation import (
    CuratedPaperBody,
    CurationBody,
    ProposalBody,
    QuestionBody,
    ScoreBody,
    ScoredIdeaBody,
)
from assayer_client.errors import (
    ApiProblem,
    ClientError,
    ConfigurationError,
    Deleted,
    InvalidRequest,
    ProblemAt,
    ServiceUnreachable,
)
from assayer_client.evaluations import EvaluationBody, IdeaBody, SectionBody
from assayer_client.people import MemberBody, MemberPatch
from assayer_client.rankings import RankedIdeaBody, RankingBody
from assayer_client.references import ReferencesBody
from assayer_client.requests import Upload
from assayer_client.reviewing import AssignBody, ConflictBody, JudgementBody, OpinionBody, OverrideBody, SignOffBody
from assayer_client.rewards import CompareBody, Composition, RewardItemBody, RewardsBody, RolloutListBody, VerifyBody
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.version import __version__
from assayer_client.webhooks import WebhookBody, verified

if TYPE_CHECKING:
    from assayer_client.async_client import AsyncClient
    from assayer_client.client import Client

__all__ = [
    "ApiProblem",
    "AssignBody",
    "AsyncClient",
    "BatchPatch",
    "BatchQuery",
    "Client",
    "ClientError",
    "CompareBody",
    "ComparisonBody",
    "Composition",
    "ConfigurationError",
    "ConflictBody",
    "CorpusBody",
    "CuratedPaperBody",
    "CurationBody",
    "Deleted",
    "EvaluationBody",
    "IdeaBody",
    "InvalidRequest",
    "JudgementBody",
    "KeyBody",
    "MemberBody",
    "MemberPatch",
    "MoreRowsQuery",
    "OpinionBody",
    "OverrideBody",
    "ProblemAt",
    "ProposalBody",
    "QuestionBody",
    "RankedIdeaBody",
    "RankingBody",
    "ReferencesBody",
    "RetryPolicy",
    "RewardItemBody",
    "RewardsBody",
    "RolloutListBody",
    "ScoreBody",
    "ScoredIdeaBody",
    "SectionBody",
    "ServiceUnreachable",
    "SignOffBody",
    "TenantBody",
    "TenantPatch",
    "Timeouts",
    "Upload",
    "VerifyBody",
    "WebhookBody",
    "__version__",
    "verified",
]


def __getattr__(name: str) -> Any:
    if name == "Client":
        from assayer_client.client import Client

        return Client
    if name == "AsyncClient":
        from assayer_client.async_client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
