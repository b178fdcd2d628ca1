"""Typed client for an assayer service, synchronous and asynchronous.

    from assayer_client import Client, EvaluationBody, IdeaBody

    with Client("https://assayer.example.org", key) as assayer:
        report = assayer.evaluate(EvaluationBody(idea=IdeaBody(text="...")))

`AsyncClient` has the same methods as coroutines. Names are imported when first used, so that the service can import
this package's models without an HTTP client."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assayer_client.version import __version__

if TYPE_CHECKING:
    from assayer_client.accounts import KeyBody, TenantBody, TenantPatch
    from assayer_client.async_client import AsyncClient
    from assayer_client.batches import BatchPatch, BatchQuery, MoreRowsQuery
    from assayer_client.calls import CallBody, CallTerms, ReviewAnswers, ReviewField, ReviewForm
    from assayer_client.client import Client
    from assayer_client.comparisons import ComparisonBody
    from assayer_client.corpus import CorpusBody
    from assayer_client.curation import (
        CandidateIdeasBody,
        CuratedPaperBody,
        CurationBody,
        QuestionBody,
        ScoreBody,
        ScoredIdeaBody,
    )
    from assayer_client.decisions import ApplicantBody, DecisionBody, ProposalToDecide
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
    from assayer_client.letters import (
        AnswerBody,
        LetterTemplates,
        LetterTemplatesBody,
        ObjectionBody,
        ReleaseBody,
        SentBody,
    )
    from assayer_client.people import MemberBody, MemberPatch
    from assayer_client.rankings import RankedIdeaBody, RankingBody
    from assayer_client.references import ReferencesBody
    from assayer_client.requests import Upload
    from assayer_client.reviewing import (
        AssignBody,
        AssignOneBody,
        ConflictBody,
        JudgementBody,
        OpinionBody,
        OverrideBody,
        SignOffBody,
    )
    from assayer_client.rewards import (
        CompareBody,
        Composition,
        RewardItemBody,
        RewardsBody,
        RolloutListBody,
        VerifyBody,
    )
    from assayer_client.settings import RetryPolicy, Timeouts
    from assayer_client.webhooks import WebhookBody, verified

__all__ = [
    "AnswerBody",
    "ApiProblem",
    "ApplicantBody",
    "AssignBody",
    "AssignOneBody",
    "AsyncClient",
    "BatchPatch",
    "BatchQuery",
    "CallBody",
    "CallTerms",
    "CandidateIdeasBody",
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
    "DecisionBody",
    "Deleted",
    "EvaluationBody",
    "IdeaBody",
    "InvalidRequest",
    "JudgementBody",
    "KeyBody",
    "LetterTemplates",
    "LetterTemplatesBody",
    "MemberBody",
    "MemberPatch",
    "MoreRowsQuery",
    "ObjectionBody",
    "OpinionBody",
    "OverrideBody",
    "ProblemAt",
    "ProposalToDecide",
    "QuestionBody",
    "RankedIdeaBody",
    "RankingBody",
    "ReferencesBody",
    "ReleaseBody",
    "RetryPolicy",
    "ReviewAnswers",
    "ReviewField",
    "ReviewForm",
    "RewardItemBody",
    "RewardsBody",
    "RolloutListBody",
    "ScoreBody",
    "ScoredIdeaBody",
    "SectionBody",
    "SentBody",
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

_MODULES = (
    *("errors", "settings", "requests", "evaluations", "calls", "batches", "comparisons", "rankings", "rewards"),
    *("curation", "references", "corpus", "people", "reviewing", "decisions", "letters", "accounts", "webhooks"),
    *("client", "async_client"),
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            if (member := getattr(import_module(f"{__name__}.{module}"), name, None)) is not None:
                return member
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
