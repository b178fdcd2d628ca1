"""All operations of the service, grouped by resource, for both clients."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from assayer_client import (
    accounts,
    audit_log,
    batches,
    calls,
    comparisons,
    contestation,
    corpus,
    curation,
    decisions,
    erasures,
    evaluations,
    expertise,
    letters,
    llm_requests,
    people,
    rankings,
    references,
    reports,
    reviewing,
    rewards,
    webhooks,
)
from assayer_client.event_stream import EventStream
from assayer_client.exchange import Exchange
from assayer_client.item_jobs import AcceptedItems
from assayer_client.namespaces import (
    Namespace,
    by_id,
    creating,
    deleting,
    download,
    downloading,
    event_stream,
    events_of,
    items_of,
    listing,
    operation,
    outcomes_of,
    sending,
    sending_to,
    waiting_for,
    waiting_for_items,
)
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Page

M = TypeVar("M")
_PDF = "application/pdf"


class Evaluations(Namespace[M]):
    create = creating("evaluations", evaluations.EvaluationBody, evaluations.Accepted)
    get = by_id("GET", "evaluations/{}", evaluations.Evaluation)
    list = operation(evaluations.evaluations)
    wait = waiting_for("evaluations/{}", evaluations.Evaluation)
    events = events_of("evaluations")
    cancel = by_id("DELETE", "evaluations/{}", evaluations.Evaluation)
    retry = by_id("POST", "evaluations/{}/retry", evaluations.Evaluation)
    erase = deleting("evaluations/{}", erase=True)
    report = by_id("GET", "evaluations/{}/report", reports.Report)
    report_text = operation(evaluations.report_text)
    graph_text = operation(evaluations.graph_text)
    timeline = by_id("GET", "evaluations/{}/timeline", reports.Timeline)
    list_llm_requests = by_id("GET", "evaluations/{}/llm-requests", Page[llm_requests.LlmRequest])
    get_llm_request = operation(
        lambda id, number: ApiCall(
            "GET", path("evaluations", id, "llm-requests", str(number)), reads(llm_requests.LlmRequestContents)
        )
    )
    contestation = by_id("GET", "evaluations/{}/contestation", contestation.Contestation)
    save_contestation = downloading("evaluations/{}/contestation", _PDF, format="pdf")
    save_brief = downloading("evaluations/{}/brief", _PDF)


class Batches(Namespace[M]):
    create = operation(batches.create)
    add_rows = operation(batches.add_rows)
    estimate = operation(batches.estimate)
    get = by_id("GET", "batches/{}", batches.BatchResource)
    list = operation(batches.batches)
    wait = waiting_for("batches/{}", batches.BatchResource, lambda batch: batch.finished_at is not None)
    events = event_stream(
        # An event's id is the number of rows that have ended, so several events may have the same id.
        lambda id: EventStream(
            path("batches", id, "events"),
            batches.BatchSummary,
            lambda batch: batch.finished_at is not None,
            numbered=False,
        )
    )
    create_call = creating("calls", calls.CallBody, batches.BatchResource)
    get_terms = by_id("GET", "batches/{}/terms", calls.CallDetails)
    update = sending_to("PATCH", "batches/{}", batches.BatchPatch, batches.BatchResource)
    cancel = by_id("DELETE", "batches/{}", batches.BatchResource)
    retry = by_id("POST", "batches/{}/retry", batches.RetriedBatch)
    save_results = download(batches.results)
    save_dossier = download(batches.dossier)


class Comparisons(Namespace[M]):
    create = creating("comparisons", comparisons.ComparisonBody, comparisons.AcceptedComparison)
    get = by_id("GET", "comparisons/{}", comparisons.ComparisonResource)
    list = listing("comparisons", comparisons.ComparisonResource)
    wait = waiting_for("comparisons/{}", comparisons.ComparisonResource)
    events = events_of("comparisons")
    cancel = by_id("DELETE", "comparisons/{}", comparisons.ComparisonResource)


class Rankings(Namespace[M]):
    create = creating("rankings", rankings.RankingBody, rankings.AcceptedRanking)
    get = by_id("GET", "rankings/{}", rankings.RankingResource)
    list = operation(rankings.rankings)
    wait = waiting_for("rankings/{}", rankings.RankingResource)
    events = events_of("rankings")
    cancel = by_id("DELETE", "rankings/{}", rankings.RankingResource)
    report = by_id("GET", "rankings/{}/report", rankings.Ranking)
    report_text = operation(rankings.ranking_text)
    comparisons = operation(rankings.ranking_comparisons)


class Rewards(Namespace[M]):
    create = creating("rewards", rewards.RewardsBody, rewards.AcceptedRewards)
    get = by_id("GET", "rewards/{}", rewards.RewardsResource)
    list = listing("rewards", rewards.RewardsResource)
    wait = waiting_for_items("rewards", rewards.RewardsResource, rewards.RewardItems)
    events = events_of("rewards")
    cancel = by_id("DELETE", "rewards/{}", rewards.RewardsResource)
    erase = deleting("rewards/{}", erase=True)
    items = items_of("rewards", rewards.RewardItems)
    outcomes = outcomes_of("rewards", rewards.RewardItems)
    debate_text = operation(rewards.debate_text)
    verify = creating("rewards/verify", rewards.VerifyBody, rewards.VerifiedRollout, held=rewards.HELD_SECONDS)
    compare = sending(
        "POST", "rewards/compare", rewards.CompareBody, rewards.VerifiedRollout, held=rewards.HELD_SECONDS
    )
    compare_all = creating(
        "rewards/compare", rewards.RolloutListBody, rewards.ComparedRollouts, held=rewards.HELD_SECONDS
    )


class Curations(Namespace[M]):
    create = creating("curations", curation.CurationBody, AcceptedItems)
    get = by_id("GET", "curations/{}", curation.CurationResource)
    list = listing("curations", curation.CurationResource)
    wait = waiting_for_items("curations", curation.CurationResource, curation.CurationItems)
    events = events_of("curations")
    cancel = by_id("DELETE", "curations/{}", curation.CurationResource)
    erase = deleting("curations/{}", erase=True)
    items = items_of("curations", curation.CurationItems)
    outcomes = outcomes_of("curations", curation.CurationItems)


class CandidateIdeas(Namespace[M]):
    create = creating("candidate-ideas", curation.CandidateIdeasBody, AcceptedItems)
    get = by_id("GET", "candidate-ideas/{}", curation.CandidateIdeasResource)
    list = listing("candidate-ideas", curation.CandidateIdeasResource)
    wait = waiting_for_items("candidate-ideas", curation.CandidateIdeasResource, curation.CandidateIdeasPage)
    events = events_of("candidate-ideas")
    cancel = by_id("DELETE", "candidate-ideas/{}", curation.CandidateIdeasResource)
    erase = deleting("candidate-ideas/{}", erase=True)
    items = items_of("candidate-ideas", curation.CandidateIdeasPage)
    outcomes = outcomes_of("candidate-ideas", curation.CandidateIdeasPage)


class Scores(Namespace[M]):
    create = creating("scores", curation.ScoreBody, AcceptedItems)
    get = by_id("GET", "scores/{}", curation.ScoreResource)
    list = listing("scores", curation.ScoreResource)
    wait = waiting_for_items("scores", curation.ScoreResource, curation.ScoreItems)
    events = events_of("scores")
    cancel = by_id("DELETE", "scores/{}", curation.ScoreResource)
    erase = deleting("scores/{}", erase=True)
    items = items_of("scores", curation.ScoreItems)
    outcomes = outcomes_of("scores", curation.ScoreItems)


class Corpus(Namespace[M]):
    search = sending("POST", "corpus/search", corpus.CorpusBody, corpus.CorpusSearch)
    suggest_references = sending("POST", "references", references.ReferencesBody, references.SuggestedReferences)


class Members(Namespace[M]):
    invite = sending("POST", "members", people.MemberBody, people.Member)
    list = operation(lambda: ApiCall("GET", path("members"), reads(Page[people.Member])))
    list_emails = by_id("GET", "members/{}/emails", Page[people.EmailDelivery])
    update = sending_to("PATCH", "members/{}", people.MemberPatch, people.Member)
    remove = by_id("DELETE", "members/{}", people.Member)
    create_key = by_id("POST", "members/{}/key", accounts.NewKey)
    get_expertise = by_id("GET", "members/{}/expertise", expertise.Expertise)
    change_expertise = sending_to("PUT", "members/{}/expertise", expertise.ExpertiseBody, expertise.ExpertiseOutcome)


class Reviewing(Namespace[M]):
    get_reviewers = by_id("GET", "batches/{}/reviewers", reviewing.CallReviewers)
    choose_reviewers = sending_to("PUT", "batches/{}/reviewers", reviewing.CallReviewersBody, reviewing.ChosenOutcome)
    invite_reviewer = sending_to("POST", "batches/{}/reviewers", reviewing.CallInvitationBody, people.Member)
    assign = sending_to("POST", "batches/{}/assignments", reviewing.AssignBody, reviewing.AssignmentOutcome)
    assign_reviewer = operation(reviewing.assign_reviewer)
    list_assignments = operation(reviewing.assignments)
    withdraw_assignment = operation(reviewing.withdraw_assignment)
    get_bidding = by_id("GET", "batches/{}/bidding", expertise.Bidding)
    change_bidding = sending_to("PUT", "batches/{}/bidding", expertise.BiddingBody, expertise.Bidding)
    list_biddable_proposals = by_id("GET", "batches/{}/biddable-proposals", Page[expertise.BiddableProposal])
    give_bids = sending_to("PUT", "batches/{}/bids", expertise.BidsBody, Page[expertise.BiddableProposal])
    list_bids = by_id("GET", "batches/{}/bids", Page[expertise.ReviewerBid])
    list_conflicts = by_id("GET", "batches/{}/conflicts", Page[reviewing.ConflictOfInterest])
    declare_conflict = sending_to(
        "POST", "evaluations/{}/conflicts", reviewing.ConflictBody, reviewing.ConflictOfInterest
    )
    clear_conflict = operation(reviewing.clear_conflict)
    get_review_terms = by_id("GET", "evaluations/{}/terms", calls.CallTerms)
    get_proposal_text = by_id("GET", "evaluations/{}/proposal", reviewing.ProposalToRead)
    give_opinion = sending_to("POST", "evaluations/{}/opinions", reviewing.OpinionBody, reviewing.Opinion)
    revise_opinion = sending_to("PATCH", "evaluations/{}/opinions", reviewing.OpinionBody, reviewing.Opinion)
    list_opinions = by_id("GET", "evaluations/{}/opinions", Page[reviewing.Opinion])
    judge_point = sending_to(
        "POST", "evaluations/{}/judgements", reviewing.JudgementBody, Page[reviewing.PointJudgement]
    )
    list_judgements = by_id("GET", "evaluations/{}/judgements", Page[reviewing.PointJudgement])
    create_remark = sending_to("POST", "evaluations/{}/remarks", reviewing.RemarkBody, reviewing.Remark)
    list_remarks = by_id("GET", "evaluations/{}/remarks", Page[reviewing.Remark])
    get_panel = operation(reviewing.panel)
    override_score = sending_to("POST", "evaluations/{}/override", reviewing.OverrideBody, reviewing.ScoreOverride)
    get_applicant = by_id("GET", "evaluations/{}/applicant", decisions.Applicant)
    change_applicant = sending_to("PUT", "evaluations/{}/applicant", decisions.ApplicantBody, decisions.Applicant)
    get_decisions = by_id("GET", "batches/{}/decisions", decisions.CallDecisions)
    decide = sending_to("POST", "batches/{}/decisions", decisions.DecisionBody, decisions.CallDecisions)
    sign_off = sending_to("POST", "batches/{}/sign-off", reviewing.SignOffBody, reviewing.SignOff)


class Letters(Namespace[M]):
    get_templates = by_id("GET", "batches/{}/letter-templates", letters.StoredTemplates)
    change_templates = sending_to(
        "PUT", "batches/{}/letter-templates", letters.LetterTemplatesBody, letters.StoredTemplates
    )
    list = by_id("GET", "batches/{}/letters", Page[letters.Letter])
    save = download(letters.save_letters)
    mark_sent = sending_to("POST", "batches/{}/letters/sent", letters.SentBody, Page[letters.Letter])
    release_comments = sending_to(
        "PUT", "evaluations/{}/released-comments", letters.ReleaseBody, Page[letters.ReleasedComment]
    )
    list_released_comments = by_id("GET", "evaluations/{}/released-comments", Page[letters.ReleasedComment])
    record_objection = sending_to("POST", "evaluations/{}/objections", letters.ObjectionBody, letters.Objection)
    list_objections = by_id("GET", "evaluations/{}/objections", Page[letters.Objection])
    answer_objection = operation(letters.answer_objection)


class Erasures(Namespace[M]):
    create = sending("POST", "erasures", erasures.ErasureBody, erasures.Erasure)
    get_proof = operation(lambda number: ApiCall("GET", path("erasures", str(number)), reads(erasures.ErasureProof)))


class AuditLog(Namespace[M]):
    list = operation(audit_log.audit_entries)
    head = operation(lambda: ApiCall("GET", path("audit-log", "head"), reads(audit_log.AuditHead)))


class Webhooks(Namespace[M]):
    create = creating("webhooks", webhooks.WebhookBody, webhooks.NewWebhook)
    list = operation(lambda: ApiCall("GET", path("webhooks"), reads(Page[webhooks.WebhookResource])))
    list_deliveries = operation(webhooks.deliveries)
    ping = by_id("POST", "webhooks/{}/ping", webhooks.DeliveryResource)
    delete = deleting("webhooks/{}")


class Tenants(Namespace[M]):
    create = creating("tenants", accounts.TenantBody, accounts.NewTenant)
    get = by_id("GET", "tenants/{}", accounts.TenantResource)
    list = listing("tenants", accounts.TenantResource)
    update = sending_to("PATCH", "tenants/{}", accounts.TenantPatch, accounts.TenantResource)
    delete = deleting("tenants/{}")


class Keys(Namespace[M]):
    create = creating("keys", accounts.KeyBody, accounts.NewKey)
    list = operation(accounts.keys)
    revoke = operation(accounts.revoke_key)


class Methods(Namespace[M]):
    list = operation(lambda: ApiCall("GET", path("methods"), reads(Page[evaluations.Method])))


class Usage(Namespace[M]):
    get = operation(accounts.usage)


class Operations(Generic[M]):
    """A client's operations, grouped in namespaces."""

    def __init__(self, exchange: Exchange, finish: Callable[[Any], Any]) -> None:
        """Create the namespaces; `finish` converts a coroutine or an asynchronous generator to the methods' return
        values."""
        self.evaluations: Evaluations[M] = Evaluations(exchange, finish)
        self.batches: Batches[M] = Batches(exchange, finish)
        self.comparisons: Comparisons[M] = Comparisons(exchange, finish)
        self.rankings: Rankings[M] = Rankings(exchange, finish)
        self.rewards: Rewards[M] = Rewards(exchange, finish)
        self.curations: Curations[M] = Curations(exchange, finish)
        self.candidate_ideas: CandidateIdeas[M] = CandidateIdeas(exchange, finish)
        self.scores: Scores[M] = Scores(exchange, finish)
        self.corpus: Corpus[M] = Corpus(exchange, finish)
        self.methods: Methods[M] = Methods(exchange, finish)
        self.members: Members[M] = Members(exchange, finish)
        self.reviewing: Reviewing[M] = Reviewing(exchange, finish)
        self.letters: Letters[M] = Letters(exchange, finish)
        self.erasures: Erasures[M] = Erasures(exchange, finish)
        self.audit_log: AuditLog[M] = AuditLog(exchange, finish)
        self.webhooks: Webhooks[M] = Webhooks(exchange, finish)
        self.tenants: Tenants[M] = Tenants(exchange, finish)
        self.keys: Keys[M] = Keys(exchange, finish)
        self.usage: Usage[M] = Usage(exchange, finish)
