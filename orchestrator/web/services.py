"""The services that the API and the console use, and the dependencies that provide them to routes."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Annotated, Any

from fastapi import Depends, Request

from assayer.ideas.tables import IdeaTable
from assayer.ports import Clock
from assayer_client.curation import CandidateIdeasOutcome, CurationOutcome, ScoreOutcome
from orchestrator.access.identity_provider import IdentityProvider
from orchestrator.identifiers import create_id_generator
from orchestrator.problems import Check
from orchestrator.services.assignments import AssignmentPlanner
from orchestrator.services.evaluation_options import EvaluationOptions
from orchestrator.services.proposal_indexes import ProposalIndexes
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.services.reward_judges import RewardJudges
from orchestrator.settings import AccessSettings, ApiKeySettings, ApiSettings, BatchSettings, QueueSettings
from orchestrator.store import (
    Database,
    NotificationListener,
    PgEvents,
    PgItemOutcomes,
    PgJobs,
    PgKeys,
    PgLedger,
    PgReports,
    PgRewardGroups,
    PgRewards,
    PgServiceMetrics,
    PgTenants,
    PgUsage,
)
from orchestrator.store.applicants import PgApplicants
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.call_details import PgCallDetails, PgCallProgress
from orchestrator.store.call_series import PgCallSeries
from orchestrator.store.call_tables import PgCallTables
from orchestrator.store.documents import PgDocuments
from orchestrator.store.erasure import PgErasures
from orchestrator.store.evaluation_costs import PgEvaluationCosts
from orchestrator.store.llm_answer_cache import PgLlmRequestContents
from orchestrator.store.mails import PgMails
from orchestrator.store.members import PgMembers
from orchestrator.store.pair_verdicts import PgPairVerdicts
from orchestrator.store.rankings import PgRankings
from orchestrator.store.sessions import PgSessions
from orchestrator.store.tombstones import PgTombstones
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.web.backpressure import StreamLimit, UploadLimit
from orchestrator.web.searchable_corpus import SearchableCorpora
from orchestrator.webhooks.secrets import SecretCipher

_MAX_CONCURRENT_RENDERINGS = 2
"""Maximum number of documents rendered concurrently; each occupies a core."""


class Services:
    """Everything that the API and the console use: stores that share one database, settings, and other components.
    Built in the composition root."""

    def __init__(
        self,
        database: Database,
        listener: NotificationListener,
        clock: Clock,
        options: EvaluationOptions,
        judges: RewardJudges,
        mails: PgMails,
        cipher: SecretCipher,
        check_address: Callable[[str], None],
        read_table: Callable[[bytes, str], Coroutine[Any, Any, IdeaTable]],
        render_pages: Callable[[bytes, str, int, int], Coroutine[Any, Any, tuple[int, list[str]]]],
        ready: Callable[[], Awaitable[Sequence[Check]]],
        *,
        api: ApiSettings,
        keys: ApiKeySettings,
        access: AccessSettings,
        batches: BatchSettings,
        queue: QueueSettings,
        documents: PgDocuments | None = None,
        identity_providers: Mapping[str, IdentityProvider] | None = None,
        corpora: SearchableCorpora | None = None,
        group_seconds: float = 60.0,
        max_abstract_chars: int = 6_000,
    ) -> None:
        """Build the stores.

        - `listener` is opened and closed by its creator.
        - `check_address` raises AddressRefused for addresses that webhooks must not use.
        - `read_table` parses a workbook of proposals; its second argument is the name
          used in errors. Raises InputError.
        - `render_pages` renders PDF pages. Its arguments are the document, its name, the first page and the number of
          pages. Raises Unreadable.
        - `ready` checks everything that evaluations need, and must not raise.
        - `identity_providers` are keyed by the names that the operator chose.
        - Without `corpora`, searches get a 503.
        - A group of rollouts waits `group_seconds` for its next member.
        - Papers to curate are rejected if their abstract is longer than `max_abstract_chars`."""
        self.settings, self.access, self.batches = api, access, batches
        self.clock, self.listener, self.options, self.judges = clock, listener, options, judges
        self.mails, self.cipher, self.check_address = mails, cipher, check_address
        self.read_table, self.ready = read_table, ready
        self.render_pages, self.rendering = render_pages, asyncio.Semaphore(_MAX_CONCURRENT_RENDERINGS)
        self.identity_providers = identity_providers or {}
        self.corpora = corpora
        self.group_seconds, self.max_abstract_chars = group_seconds, max_abstract_chars
        self.new_id = create_id_generator(clock)
        self.jobs = PgJobs(database, queue, documents, document_days=batches.document_days)
        self.events = PgEvents(database)
        self.ledger = PgLedger(database)
        self.call_contents = PgLlmRequestContents(database)
        self.rewards = PgRewards(database)
        self.reward_groups = PgRewardGroups(database)
        self.curations = PgItemOutcomes(database, CurationOutcome)
        self.candidate_ideas = PgItemOutcomes(database, CandidateIdeasOutcome)
        self.scores = PgItemOutcomes(database, ScoreOutcome)
        self.tenants = PgTenants(database)
        self.keys = PgKeys(database, keys)
        self.audit_log = PgAuditLog(database)
        self.members = PgMembers(database, self.audit_log, mails)
        self.reviewing = ReviewingStores(database, self.audit_log, mails, self.members)
        self.proposal_indexes = ProposalIndexes(self.reviewing.assignments)
        self.call_details = PgCallDetails(database, self.audit_log)
        self.applicants = PgApplicants(database, self.audit_log)
        self.call_progress = PgCallProgress(database)
        self.pair_verdicts = PgPairVerdicts(database)
        self.rankings = PgRankings(database)
        self.sessions = PgSessions(database, access)
        self.usage = PgUsage(database)
        self.tables = PgCallTables(database)
        self.series = PgCallSeries(database)
        self.reports = PgReports(database)
        self.costs = PgEvaluationCosts(database)
        self.erasures = PgErasures(database, self.audit_log, documents)
        self.tombstones = PgTombstones(database)
        self.metrics = PgServiceMetrics(database)
        self.webhooks = PgWebhooks(database)

    @property
    def assignment_planner(self) -> AssignmentPlanner:
        return AssignmentPlanner(self.reviewing, self.members, self.clock, self.proposal_indexes)


def get_from_application(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Return a dependency that provides one item in the application's state."""

    async def get_item(request: Request) -> Any:
        return getattr(request.app.state, name)

    return get_item


ServicesDependency = Annotated[Services, Depends(get_from_application("services"))]
StreamLimitDependency = Annotated[StreamLimit, Depends(get_from_application("streams"))]
UploadLimitDependency = Annotated[UploadLimit, Depends(get_from_application("uploads"))]
