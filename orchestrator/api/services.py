"""The services that the API uses; put together in the composition root, handed to `create_app`."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from assayer.ideas.tables import IdeaTable
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import BlindDefault, judged_blind
from assayer.ports import Clock
from assayer.ranking.known_comparisons import Judging
from orchestrator.access.identity_provider import IdentityProvider
from orchestrator.api.backpressure import StreamLimit, UploadLimit
from orchestrator.api.common_schemas import Check
from orchestrator.api.identifiers import IdGenerator
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.searchable_corpus import SearchableCorpora
from orchestrator.api.validation_errors import suggestion
from orchestrator.jobs.estimates import TypicalEvaluation
from orchestrator.jobs.item_outcomes import CurationOutcome, ProposalOutcome, ScoreOutcome
from orchestrator.jobs.models import BatchId, Priority, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.settings import AccessSettings, ApiSettings, BatchSettings
from orchestrator.store import (
    NotificationListener,
    PgEvents,
    PgItemOutcomes,
    PgJobs,
    PgKeys,
    PgLedger,
    PgRewardGroups,
    PgRewards,
    PgServiceMetrics,
    PgTenants,
    PgUsage,
)
from orchestrator.store.assigned_tables import PgAssignedTables
from orchestrator.store.assignments import PgAssignments
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.call_contents import PgCallContents
from orchestrator.store.call_details import PgCallDetails
from orchestrator.store.call_reviewers import PgCallReviewers
from orchestrator.store.call_series import PgCallSeries
from orchestrator.store.call_tables import PgCallTables
from orchestrator.store.decisions import PgDecisions
from orchestrator.store.erasure import PgErasures
from orchestrator.store.evaluation_costs import PgEvaluationCosts
from orchestrator.store.mails import PgMails
from orchestrator.store.members import PgMembers
from orchestrator.store.opinions import PgOpinions
from orchestrator.store.pair_verdicts import PgPairVerdicts
from orchestrator.store.panels import PgPanels
from orchestrator.store.rankings import PgRankings
from orchestrator.store.remarks import PgRemarks
from orchestrator.store.report_figures import PgReportFigures
from orchestrator.store.sessions import PgSessions
from orchestrator.store.sign_in_attempts import PgSignInAttempts
from orchestrator.store.tombstones import PgTombstones
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.secrets import SecretCipher

__all__ = ["RewardJudges", "Services", "ServicesDependency", "StreamLimitDependency", "UploadLimitDependency"]


@dataclass(frozen=True)
class RewardJudges:
    """Those that rewards may be asked of."""

    about: Mapping[str, str]
    """What each is, in one line, by name."""
    default: str

    def checked(self, said: str | None) -> str:
        """Raises HttpProblem for one that is not there."""
        if said is not None and said not in self.about:
            detail = f"There is no judge {said[:80]!r}. Judges: {', '.join(self.about)}."
            raise HttpProblem.invalid(detail, "/judge")
        return said or self.default


@dataclass(frozen=True)
class Services:
    settings: ApiSettings
    clock: Clock
    new_id: IdGenerator
    jobs: PgJobs
    events: PgEvents
    ledger: PgLedger
    call_contents: PgCallContents
    rewards: PgRewards
    groups: PgRewardGroups
    curations: PgItemOutcomes[CurationOutcome]
    proposals: PgItemOutcomes[ProposalOutcome]
    scores: PgItemOutcomes[ScoreOutcome]
    judges: RewardJudges
    tenants: PgTenants
    keys: PgKeys
    access: AccessSettings
    sessions: PgSessions
    sign_in_attempts: PgSignInAttempts
    identity_providers: Mapping[str, IdentityProvider]
    """By the names that the operator gave them."""
    audit_log: PgAuditLog
    mails: PgMails
    members: PgMembers
    assignments: PgAssignments
    assigned_tables: PgAssignedTables
    call_reviewers: PgCallReviewers
    opinions: PgOpinions
    decisions: PgDecisions
    panels: PgPanels
    remarks: PgRemarks
    call_details: PgCallDetails
    pair_verdicts: PgPairVerdicts
    rankings: PgRankings
    usage: PgUsage
    tables: PgCallTables
    series: PgCallSeries
    figures: PgReportFigures
    costs: PgEvaluationCosts
    erasures: PgErasures
    tombstones: PgTombstones
    metrics: PgServiceMetrics
    listener: NotificationListener
    """Opened and closed by whoever made it."""
    methods: Mapping[str, str]
    """What each method is, in one line, by name."""
    corpora: SearchableCorpora | None
    """None: this process has none, and searching it is answered 503."""
    ready: Callable[[], Awaitable[Sequence[Check]]]
    """Looks at everything that evaluations need; must not raise."""
    webhooks: PgWebhooks
    cipher: SecretCipher
    check_address: Callable[[str], None]
    """Raises AddressRefused for what no webhook may be."""
    batches: BatchSettings
    read_table: Callable[[bytes, str], Coroutine[Any, Any, IdeaTable]]
    """Reads a workbook of proposals, which the second argument names in errors. Raises InputError."""
    group_seconds: float = 60.0
    """How long the members of a group of rollouts wait for the next one."""
    walks: SciCompanionOptions = field(default_factory=SciCompanionOptions)
    """How missed references are looked for, where the request does not say."""
    most_abstract_chars: int = 6_000
    """Of a paper that is curated; a longer abstract is refused."""
    typical: Mapping[str, TypicalEvaluation] = field(default_factory=dict)
    """What an evaluation takes where a tenant has had too few of its own, by method; missing where nobody measured."""
    judging: Judging = field(default_factory=lambda: Judging(None))
    """By what rankings judge here, as far as it is the same for all of them."""
    blind: BlindDefault = "several"
    """Which ideas are judged blind where the request does not say."""
    overnight: bool = False
    """Whether jobs may wait for batches of the language model's endpoint."""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Why a method cannot run here, whatever is asked of it; those that can are missing."""
    personas: int | None = None
    """From which InnoEval's boards are drawn: no board is larger. None: the API does not know, evaluations do."""
    board_models: tuple[str, ...] = ()
    """Models that a request may name for InnoEval's boards."""
    typical_board: Callable[[int | None, Sequence[str]], TypicalEvaluation] | None = None
    """What InnoEval takes with a board of this size, dealt among these models; None: nobody measured."""

    @property
    def offered(self) -> dict[str, str]:
        """Methods that can run here, in one line each, by name."""
        return {name: about for name, about in self.methods.items() if name not in self.unavailable}

    def method_problem(self, method: str) -> str | None:
        """Why nothing is evaluated by it here, in words; None where it is."""
        if method not in self.methods:
            return f"There is no method {method!r}.{suggestion(method, sorted(self.offered))}"
        if why := self.unavailable.get(method):
            return f"The method {method} cannot run here: {why} Offered: {', '.join(sorted(self.offered)) or 'none'}."
        return None

    async def find_batch(self, tenant: TenantId, id: str) -> BatchStatus:
        """Raises HttpProblem (404, 410)."""
        found = await self.jobs.batch(tenant, BatchId(id))
        if found is None:
            raise not_there("batch", id)
        return found

    def judged_blind(self, said: bool | None, *, several: bool) -> bool:
        return judged_blind(said, self.blind, several=several)

    def check_priority(self, priority: Priority) -> None:
        """Raises HttpProblem where overnight work would find no batches to wait for."""
        if priority == "overnight" and not self.overnight:
            detail = "No batches of language models are set up here, for which overnight work could wait."
            raise HttpProblem("not-configured", f"{detail} The operator sets ASSAYER_LLM__BATCH__ENABLED.")


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _stream_limit(request: Request) -> StreamLimit:
    streams: StreamLimit = request.app.state.streams
    return streams


async def _upload_limit(request: Request) -> UploadLimit:
    uploads: UploadLimit = request.app.state.uploads
    return uploads


ServicesDependency = Annotated[Services, Depends(_services)]
StreamLimitDependency = Annotated[StreamLimit, Depends(_stream_limit)]
UploadLimitDependency = Annotated[UploadLimit, Depends(_upload_limit)]
