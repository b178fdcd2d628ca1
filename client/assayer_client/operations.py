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
    define_by_id,
    define_create,
    define_delete,
    define_document_download,
    define_download,
    define_event_stream,
    define_events,
    define_items,
    define_list,
    define_operation,
    define_outcomes,
    define_send,
    define_send_to,
    define_wait,
    define_wait_for_items,
)
from assayer_client.requests import ApiCall, build_path, make_json_parser
from assayer_client.resources import Page

M = TypeVar("M")
_PDF = "application/pdf"


class Evaluations(Namespace[M]):
    create = define_create("evaluations", evaluations.EvaluationBody, evaluations.Accepted)
    get = define_by_id("GET", "evaluations/{}", evaluations.Evaluation)
    list = define_operation(evaluations.list_evaluations)
    wait = define_wait("evaluations/{}", evaluations.Evaluation)
    events = define_events("evaluations")
    cancel = define_by_id("DELETE", "evaluations/{}", evaluations.Evaluation)
    retry = define_by_id("POST", "evaluations/{}/retry", evaluations.Evaluation)
    erase = define_delete("evaluations/{}", erase=True)
    report = define_by_id("GET", "evaluations/{}/report", reports.Report)
    report_text = define_operation(evaluations.get_report_text)
    graph_text = define_operation(evaluations.get_graph_text)
    timeline = define_by_id("GET", "evaluations/{}/timeline", reports.Timeline)
    list_llm_requests = define_by_id("GET", "evaluations/{}/llm-requests", Page[llm_requests.LlmRequest])
    get_llm_request = define_operation(
        lambda id, number: ApiCall(
            "GET",
            build_path("evaluations", id, "llm-requests", str(number)),
            make_json_parser(llm_requests.LlmRequestContents),
        )
    )
    contestation = define_by_id("GET", "evaluations/{}/contestation", contestation.Contestation)
    save_contestation = define_document_download("evaluations/{}/contestation", _PDF, format="pdf")
    save_brief = define_document_download("evaluations/{}/brief", _PDF)


class Batches(Namespace[M]):
    create = define_operation(batches.create)
    add_rows = define_operation(batches.add_rows)
    estimate = define_operation(batches.estimate)
    get = define_by_id("GET", "batches/{}", batches.BatchResource)
    list = define_operation(batches.list_batches)
    wait = define_wait("batches/{}", batches.BatchResource, lambda batch: batch.finished_at is not None)
    events = define_event_stream(
        # An event's id is the number of rows that have ended, so several events may have the same id.
        lambda id: EventStream(
            build_path("batches", id, "events"),
            batches.BatchSummary,
            lambda batch: batch.finished_at is not None,
            numbered=False,
        )
    )
    create_call = define_create("calls", calls.CallBody, batches.BatchResource)
    get_terms = define_by_id("GET", "batches/{}/terms", calls.CallDetails)
    update = define_send_to("PATCH", "batches/{}", batches.BatchPatch, batches.BatchResource)
    cancel = define_by_id("DELETE", "batches/{}", batches.BatchResource)
    retry = define_by_id("POST", "batches/{}/retry", batches.RetriedBatch)
    save_results = define_download(batches.save_results)
    save_dossier = define_download(batches.save_dossier)


class Comparisons(Namespace[M]):
    create = define_create("comparisons", comparisons.ComparisonBody, comparisons.AcceptedComparison)
    get = define_by_id("GET", "comparisons/{}", comparisons.ComparisonResource)
    list = define_list("comparisons", comparisons.ComparisonResource)
    wait = define_wait("comparisons/{}", comparisons.ComparisonResource)
    events = define_events("comparisons")
    cancel = define_by_id("DELETE", "comparisons/{}", comparisons.ComparisonResource)


class Rankings(Namespace[M]):
    create = define_create("rankings", rankings.RankingBody, rankings.AcceptedRanking)
    get = define_by_id("GET", "rankings/{}", rankings.RankingResource)
    list = define_operation(rankings.list_rankings)
    wait = define_wait("rankings/{}", rankings.RankingResource)
    events = define_events("rankings")
    cancel = define_by_id("DELETE", "rankings/{}", rankings.RankingResource)
    report = define_by_id("GET", "rankings/{}/report", rankings.Ranking)
    report_text = define_operation(rankings.get_ranking_text)
    comparisons = define_operation(rankings.list_ranking_comparisons)


class Rewards(Namespace[M]):
    create = define_create("rewards", rewards.RewardsBody, rewards.AcceptedRewards)
    get = define_by_id("GET", "rewards/{}", rewards.RewardsResource)
    list = define_list("rewards", rewards.RewardsResource)
    wait = define_wait_for_items("rewards", rewards.RewardsResource, rewards.RewardItems)
    events = define_events("rewards")
    cancel = define_by_id("DELETE", "rewards/{}", rewards.RewardsResource)
    erase = define_delete("rewards/{}", erase=True)
    items = define_items("rewards", rewards.RewardItems)
    outcomes = define_outcomes("rewards", rewards.RewardItems)
    debate_text = define_operation(rewards.get_debate_text)
    verify = define_create(
        "rewards/verify", rewards.VerifyBody, rewards.VerifiedRollout, hold_seconds=rewards.HELD_SECONDS
    )
    compare = define_send(
        "POST", "rewards/compare", rewards.CompareBody, rewards.VerifiedRollout, hold_seconds=rewards.HELD_SECONDS
    )
    compare_all = define_create(
        "rewards/compare", rewards.RolloutListBody, rewards.ComparedRollouts, hold_seconds=rewards.HELD_SECONDS
    )


class Curations(Namespace[M]):
    create = define_create("curations", curation.CurationBody, AcceptedItems)
    get = define_by_id("GET", "curations/{}", curation.CurationResource)
    list = define_list("curations", curation.CurationResource)
    wait = define_wait_for_items("curations", curation.CurationResource, curation.CurationItems)
    events = define_events("curations")
    cancel = define_by_id("DELETE", "curations/{}", curation.CurationResource)
    erase = define_delete("curations/{}", erase=True)
    items = define_items("curations", curation.CurationItems)
    outcomes = define_outcomes("curations", curation.CurationItems)


class CandidateIdeas(Namespace[M]):
    create = define_create("candidate-ideas", curation.CandidateIdeasBody, AcceptedItems)
    get = define_by_id("GET", "candidate-ideas/{}", curation.CandidateIdeasResource)
    list = define_list("candidate-ideas", curation.CandidateIdeasResource)
    wait = define_wait_for_items("candidate-ideas", curation.CandidateIdeasResource, curation.CandidateIdeasPage)
    events = define_events("candidate-ideas")
    cancel = define_by_id("DELETE", "candidate-ideas/{}", curation.CandidateIdeasResource)
    erase = define_delete("candidate-ideas/{}", erase=True)
    items = define_items("candidate-ideas", curation.CandidateIdeasPage)
    outcomes = define_outcomes("candidate-ideas", curation.CandidateIdeasPage)


class Scores(Namespace[M]):
    create = define_create("scores", curation.ScoreBody, AcceptedItems)
    get = define_by_id("GET", "scores/{}", curation.ScoreResource)
    list = define_list("scores", curation.ScoreResource)
    wait = define_wait_for_items("scores", curation.ScoreResource, curation.ScoreItems)
    events = define_events("scores")
    cancel = define_by_id("DELETE", "scores/{}", curation.ScoreResource)
    erase = define_delete("scores/{}", erase=True)
    items = define_items("scores", curation.ScoreItems)
    outcomes = define_outcomes("scores", curation.ScoreItems)


class Corpus(Namespace[M]):
    search = define_send("POST", "corpus/search", corpus.CorpusBody, corpus.CorpusSearch)
    suggest_references = define_send("POST", "references", references.ReferencesBody, references.SuggestedReferences)


class Members(Namespace[M]):
    invite = define_send("POST", "members", people.MemberBody, people.Member)
    list = define_operation(lambda: ApiCall("GET", build_path("members"), make_json_parser(Page[people.Member])))
    list_emails = define_by_id("GET", "members/{}/emails", Page[people.EmailDelivery])
    update = define_send_to("PATCH", "members/{}", people.MemberPatch, people.Member)
    remove = define_by_id("DELETE", "members/{}", people.Member)
    create_key = define_by_id("POST", "members/{}/key", accounts.NewKey)
    get_expertise = define_by_id("GET", "members/{}/expertise", expertise.Expertise)
    change_expertise = define_send_to(
        "PUT", "members/{}/expertise", expertise.ExpertiseBody, expertise.ExpertiseOutcome
    )


class Reviewing(Namespace[M]):
    get_reviewers = define_by_id("GET", "batches/{}/reviewers", reviewing.CallReviewers)
    choose_reviewers = define_send_to(
        "PUT", "batches/{}/reviewers", reviewing.CallReviewersBody, reviewing.ChosenOutcome
    )
    invite_reviewer = define_send_to("POST", "batches/{}/reviewers", reviewing.CallInvitationBody, people.Member)
    assign = define_send_to("POST", "batches/{}/assignments", reviewing.AssignBody, reviewing.AssignmentOutcome)
    assign_reviewer = define_operation(reviewing.assign_reviewer)
    list_assignments = define_operation(reviewing.list_assignments)
    withdraw_assignment = define_operation(reviewing.withdraw_assignment)
    get_bidding = define_by_id("GET", "batches/{}/bidding", expertise.Bidding)
    change_bidding = define_send_to("PUT", "batches/{}/bidding", expertise.BiddingBody, expertise.Bidding)
    list_biddable_proposals = define_by_id("GET", "batches/{}/biddable-proposals", Page[expertise.BiddableProposal])
    give_bids = define_send_to("PUT", "batches/{}/bids", expertise.BidsBody, Page[expertise.BiddableProposal])
    list_bids = define_by_id("GET", "batches/{}/bids", Page[expertise.ReviewerBid])
    list_conflicts = define_by_id("GET", "batches/{}/conflicts", Page[reviewing.ConflictOfInterest])
    declare_conflict = define_send_to(
        "POST", "evaluations/{}/conflicts", reviewing.ConflictBody, reviewing.ConflictOfInterest
    )
    clear_conflict = define_operation(reviewing.clear_conflict)
    get_review_terms = define_by_id("GET", "evaluations/{}/terms", calls.CallTerms)
    get_proposal_text = define_by_id("GET", "evaluations/{}/proposal", reviewing.ProposalToRead)
    give_opinion = define_send_to("POST", "evaluations/{}/opinions", reviewing.OpinionBody, reviewing.Opinion)
    revise_opinion = define_send_to("PATCH", "evaluations/{}/opinions", reviewing.OpinionBody, reviewing.Opinion)
    list_opinions = define_by_id("GET", "evaluations/{}/opinions", Page[reviewing.Opinion])
    judge_point = define_send_to(
        "POST", "evaluations/{}/judgements", reviewing.JudgementBody, Page[reviewing.PointJudgement]
    )
    list_judgements = define_by_id("GET", "evaluations/{}/judgements", Page[reviewing.PointJudgement])
    create_remark = define_send_to("POST", "evaluations/{}/remarks", reviewing.RemarkBody, reviewing.Remark)
    list_remarks = define_by_id("GET", "evaluations/{}/remarks", Page[reviewing.Remark])
    get_panel = define_operation(reviewing.get_panel)
    override_score = define_send_to("POST", "evaluations/{}/override", reviewing.OverrideBody, reviewing.ScoreOverride)
    get_applicant = define_by_id("GET", "evaluations/{}/applicant", decisions.Applicant)
    change_applicant = define_send_to("PUT", "evaluations/{}/applicant", decisions.ApplicantBody, decisions.Applicant)
    get_decisions = define_by_id("GET", "batches/{}/decisions", decisions.CallDecisions)
    decide = define_send_to("POST", "batches/{}/decisions", decisions.DecisionBody, decisions.CallDecisions)
    sign_off = define_send_to("POST", "batches/{}/sign-off", reviewing.SignOffBody, reviewing.SignOff)


class Letters(Namespace[M]):
    get_templates = define_by_id("GET", "batches/{}/letter-templates", letters.StoredTemplates)
    change_templates = define_send_to(
        "PUT", "batches/{}/letter-templates", letters.LetterTemplatesBody, letters.StoredTemplates
    )
    list = define_by_id("GET", "batches/{}/letters", Page[letters.Letter])
    save = define_download(letters.save_letters)
    mark_sent = define_send_to("POST", "batches/{}/letters/sent", letters.SentBody, Page[letters.Letter])
    release_comments = define_send_to(
        "PUT", "evaluations/{}/released-comments", letters.ReleaseBody, Page[letters.ReleasedComment]
    )
    list_released_comments = define_by_id("GET", "evaluations/{}/released-comments", Page[letters.ReleasedComment])
    record_objection = define_send_to("POST", "evaluations/{}/objections", letters.ObjectionBody, letters.Objection)
    list_objections = define_by_id("GET", "evaluations/{}/objections", Page[letters.Objection])
    answer_objection = define_operation(letters.answer_objection)


class Erasures(Namespace[M]):
    create = define_send("POST", "erasures", erasures.ErasureBody, erasures.Erasure)
    get_proof = define_operation(
        lambda number: ApiCall("GET", build_path("erasures", str(number)), make_json_parser(erasures.ErasureProof))
    )


class AuditLog(Namespace[M]):
    list = define_operation(audit_log.list_audit_entries)
    head = define_operation(
        lambda: ApiCall("GET", build_path("audit-log", "head"), make_json_parser(audit_log.AuditHead))
    )


class Webhooks(Namespace[M]):
    create = define_create("webhooks", webhooks.WebhookBody, webhooks.NewWebhook)
    list = define_operation(
        lambda: ApiCall("GET", build_path("webhooks"), make_json_parser(Page[webhooks.WebhookResource]))
    )
    list_deliveries = define_operation(webhooks.list_deliveries)
    ping = define_by_id("POST", "webhooks/{}/ping", webhooks.DeliveryResource)
    delete = define_delete("webhooks/{}")


class Tenants(Namespace[M]):
    create = define_create("tenants", accounts.TenantBody, accounts.NewTenant)
    get = define_by_id("GET", "tenants/{}", accounts.TenantResource)
    list = define_list("tenants", accounts.TenantResource)
    update = define_send_to("PATCH", "tenants/{}", accounts.TenantPatch, accounts.TenantResource)
    delete = define_delete("tenants/{}")


class Keys(Namespace[M]):
    create = define_create("keys", accounts.KeyBody, accounts.NewKey)
    list = define_operation(accounts.list_keys)
    revoke = define_operation(accounts.revoke_key)


class Methods(Namespace[M]):
    list = define_operation(lambda: ApiCall("GET", build_path("methods"), make_json_parser(Page[evaluations.Method])))


class Usage(Namespace[M]):
    get = define_operation(accounts.get_usage)


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
