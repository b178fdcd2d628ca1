"""Operations of the service, grouped by resource, as offered by both clients."""

from typing import Generic, TypeVar

from assayer_client import accounts, audit_log, batches, evaluations, rankings, reviewing, rewards
from assayer_client.accounts import KeyBody, NewKey, NewTenant, TenantBody, TenantPatch, TenantResource
from assayer_client.audit_log import AuditTip
from assayer_client.batches import BatchPatch, BatchResource, BatchSummary, RetriedBatch
from assayer_client.comparisons import AcceptedComparison, ComparisonBody, ComparisonResource
from assayer_client.contestation import Contestation
from assayer_client.corpus import CorpusBody, CorpusSearch
from assayer_client.curation import (
    CurationBody,
    CurationItems,
    CurationOutcome,
    CurationResource,
    ProposalBody,
    ProposalItems,
    ProposalOutcome,
    ProposalResource,
    ScoreBody,
    ScoreItems,
    ScoreOutcome,
    ScoreResource,
)
from assayer_client.erasures import Erasure, ErasureBody, ErasureProof
from assayer_client.evaluations import Accepted, Evaluation, EvaluationBody
from assayer_client.event_stream import EventStream
from assayer_client.item_jobs import AcceptedItems, ItemCalls
from assayer_client.model_calls import ModelCall, ModelCallContents
from assayer_client.namespaces import (
    Create,
    Download,
    Events,
    ItemNamespace,
    Listing,
    Namespace,
    Operation,
    Wait,
    by_id,
    deleting,
    downloading,
    events_of,
    sending,
    sending_to,
)
from assayer_client.people import Mail, Member, MemberBody, MemberPatch
from assayer_client.rankings import AcceptedRanking, Ranking, RankingBody, RankingResource
from assayer_client.references import ReferencesBody, SuggestedReferences
from assayer_client.reports import Report, Timeline
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Page
from assayer_client.reviewing import (
    AssignBody,
    AssignmentOutcome,
    CallInvitationBody,
    CallReviewers,
    CallReviewersBody,
    ChosenOutcome,
    ConflictBody,
    ConflictOfInterest,
    JudgementBody,
    Opinion,
    OpinionBody,
    OverrideBody,
    PointJudgement,
    ProposalToRead,
    Remark,
    RemarkBody,
    ScoreOverride,
    SignOff,
    SignOffBody,
)
from assayer_client.rewards import (
    HELD_SECONDS,
    AcceptedRewards,
    CompareBody,
    ComparedRollouts,
    RewardItems,
    RewardOutcome,
    RewardsBody,
    RewardsResource,
    RolloutListBody,
    VerifiedRollout,
    VerifyBody,
)
from assayer_client.webhooks import DeliveryResource, NewWebhook, WebhookBody, WebhookResource, deliveries

__all__ = ["Operations"]

C = TypeVar("C")
_PDF = "application/pdf"


class Evaluations(Namespace[C]):
    create = Create("evaluations", EvaluationBody, Accepted)
    get = by_id("GET", "evaluations/{}", Evaluation)
    list = Operation(evaluations.evaluations)
    wait = Wait("evaluations/{}", Evaluation)
    events = events_of("evaluations")
    cancel = by_id("DELETE", "evaluations/{}", Evaluation)
    retry = by_id("POST", "evaluations/{}/retry", Evaluation)
    erase = deleting("evaluations/{}", erase=True)
    report = by_id("GET", "evaluations/{}/report", Report)
    report_text = Operation(evaluations.report_text)
    graph_text = Operation(evaluations.graph_text)
    timeline = by_id("GET", "evaluations/{}/timeline", Timeline)
    list_model_calls = by_id("GET", "evaluations/{}/calls", Page[ModelCall])
    get_model_call = Operation(
        lambda id, number: ApiCall("GET", path("evaluations", id, "calls", str(number)), reads(ModelCallContents))
    )
    contestation = by_id("GET", "evaluations/{}/contestation", Contestation)
    save_contestation = downloading("evaluations/{}/contestation", _PDF, format="pdf")
    save_brief = downloading("evaluations/{}/brief", _PDF)


class Batches(Namespace[C]):
    create = Operation(batches.create)
    add_rows = Operation(batches.add_rows)
    estimate = Operation(batches.estimate)
    get = by_id("GET", "batches/{}", BatchResource)
    list = Operation(batches.batches)
    wait = Wait("batches/{}", BatchResource, lambda batch: batch.finished_at is not None)
    events = Events(
        # An event's id is the number of rows that have ended, which several events may share.
        lambda id: EventStream(
            path("batches", id, "events"), BatchSummary, lambda batch: batch.finished_at is not None, numbered=False
        )
    )
    update = sending_to("PATCH", "batches/{}", BatchPatch, BatchResource)
    cancel = by_id("DELETE", "batches/{}", BatchResource)
    retry = by_id("POST", "batches/{}/retry", RetriedBatch)
    save_results = Download(batches.results)
    save_dossier = Download(batches.dossier)


class Comparisons(Namespace[C]):
    create = Create("comparisons", ComparisonBody, AcceptedComparison)
    get = by_id("GET", "comparisons/{}", ComparisonResource)
    list = Listing("comparisons", ComparisonResource)
    wait = Wait("comparisons/{}", ComparisonResource)
    events = events_of("comparisons")
    cancel = by_id("DELETE", "comparisons/{}", ComparisonResource)


class Rankings(Namespace[C]):
    create = Create("rankings", RankingBody, AcceptedRanking)
    get = by_id("GET", "rankings/{}", RankingResource)
    list = Operation(rankings.rankings)
    wait = Wait("rankings/{}", RankingResource)
    events = events_of("rankings")
    cancel = by_id("DELETE", "rankings/{}", RankingResource)
    report = by_id("GET", "rankings/{}/report", Ranking)
    report_text = Operation(rankings.ranking_text)
    comparisons = Operation(rankings.ranking_comparisons)


class Rewards(ItemNamespace[C, RewardsBody, AcceptedRewards, RewardsResource, RewardOutcome]):
    calls = ItemCalls("rewards", AcceptedRewards, RewardsResource, RewardItems)
    events = events_of("rewards")
    debate_text = Operation(rewards.debate_text)
    verify = Create("rewards/verify", VerifyBody, VerifiedRollout, held=HELD_SECONDS)
    compare = sending("POST", "rewards/compare", CompareBody, VerifiedRollout, held=HELD_SECONDS)
    compare_all = Create("rewards/compare", RolloutListBody, ComparedRollouts, held=HELD_SECONDS)


class Curations(ItemNamespace[C, CurationBody, AcceptedItems, CurationResource, CurationOutcome]):
    calls = ItemCalls("curations", AcceptedItems, CurationResource, CurationItems)
    events = events_of("curations")


class Proposals(ItemNamespace[C, ProposalBody, AcceptedItems, ProposalResource, ProposalOutcome]):
    calls = ItemCalls("proposals", AcceptedItems, ProposalResource, ProposalItems)
    events = events_of("proposals")


class Scores(ItemNamespace[C, ScoreBody, AcceptedItems, ScoreResource, ScoreOutcome]):
    calls = ItemCalls("scores", AcceptedItems, ScoreResource, ScoreItems)
    events = events_of("scores")


class Corpus(Namespace[C]):
    search = sending("POST", "corpus/search", CorpusBody, CorpusSearch)
    suggest_references = sending("POST", "references", ReferencesBody, SuggestedReferences)


class Members(Namespace[C]):
    invite = sending("POST", "members", MemberBody, Member)
    list = Operation(lambda: ApiCall("GET", path("members"), reads(Page[Member])))
    list_mails = by_id("GET", "members/{}/mails", Page[Mail])
    update = sending_to("PATCH", "members/{}", MemberPatch, Member)
    remove = by_id("DELETE", "members/{}", Member)
    create_key = by_id("POST", "members/{}/key", NewKey)


class Reviewing(Namespace[C]):
    get_reviewers = by_id("GET", "batches/{}/reviewers", CallReviewers)
    choose_reviewers = sending_to("PUT", "batches/{}/reviewers", CallReviewersBody, ChosenOutcome)
    invite_reviewer = sending_to("POST", "batches/{}/reviewers", CallInvitationBody, Member)
    assign = sending_to("POST", "batches/{}/assignments", AssignBody, AssignmentOutcome)
    list_assignments = Operation(reviewing.assignments)
    withdraw_assignment = Operation(reviewing.withdraw_assignment)
    list_conflicts = by_id("GET", "batches/{}/conflicts", Page[ConflictOfInterest])
    declare_conflict = sending_to("POST", "evaluations/{}/conflicts", ConflictBody, ConflictOfInterest)
    clear_conflict = Operation(reviewing.clear_conflict)
    get_proposal_text = by_id("GET", "evaluations/{}/proposal", ProposalToRead)
    give_opinion = sending_to("POST", "evaluations/{}/opinions", OpinionBody, Opinion)
    revise_opinion = sending_to("PATCH", "evaluations/{}/opinions", OpinionBody, Opinion)
    list_opinions = by_id("GET", "evaluations/{}/opinions", Page[Opinion])
    judge_point = sending_to("POST", "evaluations/{}/judgements", JudgementBody, Page[PointJudgement])
    list_judgements = by_id("GET", "evaluations/{}/judgements", Page[PointJudgement])
    create_remark = sending_to("POST", "evaluations/{}/remarks", RemarkBody, Remark)
    list_remarks = by_id("GET", "evaluations/{}/remarks", Page[Remark])
    get_panel = Operation(reviewing.panel)
    override_score = sending_to("POST", "evaluations/{}/override", OverrideBody, ScoreOverride)
    sign_off = sending_to("POST", "batches/{}/sign-off", SignOffBody, SignOff)


class Erasures(Namespace[C]):
    create = sending("POST", "erasures", ErasureBody, Erasure)
    get_proof = Operation(lambda number: ApiCall("GET", path("erasures", str(number)), reads(ErasureProof)))


class AuditLog(Namespace[C]):
    list = Operation(audit_log.audit_entries)
    tip = Operation(lambda: ApiCall("GET", path("audit-log", "tip"), reads(AuditTip)))


class Webhooks(Namespace[C]):
    create = Create("webhooks", WebhookBody, NewWebhook)
    list = Operation(lambda: ApiCall("GET", path("webhooks"), reads(Page[WebhookResource])))
    list_deliveries = Operation(deliveries)
    ping = by_id("POST", "webhooks/{}/ping", DeliveryResource)
    delete = deleting("webhooks/{}")


class Tenants(Namespace[C]):
    create = Create("tenants", TenantBody, NewTenant)
    get = by_id("GET", "tenants/{}", TenantResource)
    list = Listing("tenants", TenantResource)
    update = sending_to("PATCH", "tenants/{}", TenantPatch, TenantResource)
    delete = deleting("tenants/{}")


class Keys(Namespace[C]):
    create = Create("keys", KeyBody, NewKey)
    list = Operation(accounts.keys)
    revoke = Operation(accounts.revoke_key)


class Methods(Namespace[C]):
    list = Operation(lambda: ApiCall("GET", path("methods"), reads(Page[evaluations.Method])))


class Usage(Namespace[C]):
    get = Operation(accounts.usage)


class Operations(Generic[C]):
    """Operations of a client, grouped in namespaces."""

    def __init__(self, client: C) -> None:
        self.evaluations = Evaluations(client)
        self.batches = Batches(client)
        self.comparisons = Comparisons(client)
        self.rankings = Rankings(client)
        self.rewards = Rewards(client)
        self.curations = Curations(client)
        self.proposals = Proposals(client)
        self.scores = Scores(client)
        self.corpus = Corpus(client)
        self.methods = Methods(client)
        self.members = Members(client)
        self.reviewing = Reviewing(client)
        self.erasures = Erasures(client)
        self.audit_log = AuditLog(client)
        self.webhooks = Webhooks(client)
        self.tenants = Tenants(client)
        self.keys = Keys(client)
        self.usage = Usage(client)
