"""The operations that are one request each, declared once for both clients."""

from collections.abc import Awaitable, Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from assayer_client import accounts as account_calls
from assayer_client import audit_log as audit_calls
from assayer_client import batches as batch_calls
from assayer_client import comparisons as comparison_calls
from assayer_client import contestation as contestation_calls
from assayer_client import corpus as corpus_calls
from assayer_client import erasures as erasure_calls
from assayer_client import evaluations as evaluation_calls
from assayer_client import model_calls as model_calls_of
from assayer_client import people as people_calls
from assayer_client import rankings as ranking_calls
from assayer_client import references as reference_calls
from assayer_client import reviewing as reviewing_calls
from assayer_client import webhooks as webhook_calls
from assayer_client.requests import ApiCall

__all__ = ["AsyncRunner", "Operation", "Operations", "Runner"]

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    def run(self, call: ApiCall[T]) -> T: ...


class AsyncRunner(Protocol):
    async def run(self, call: ApiCall[T]) -> T: ...


class Operation(Generic[P, T]):
    """A method that runs the call which a function builds, with that function's own parameters. On a client that
    runs calls asynchronously it is to be awaited."""

    def __init__(self, build: Callable[P, ApiCall[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: object) -> "Operation[P, T]": ...
    @overload
    def __get__(self, client: Runner, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncRunner, owner: object) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        if client is None:
            return self

        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(self._build(*args, **kwargs))

        return update_wrapper(bound, self._build)


class Operations:
    """What both clients offer, request by request."""

    submit = Operation(evaluation_calls.submit)
    evaluation = Operation(evaluation_calls.evaluation)
    evaluations = Operation(evaluation_calls.evaluations)
    report = Operation(evaluation_calls.report)
    report_text = Operation(evaluation_calls.report_text)
    graph_text = Operation(evaluation_calls.graph_text)
    timeline = Operation(evaluation_calls.timeline)
    model_calls = Operation(model_calls_of.model_calls)
    model_call = Operation(model_calls_of.model_call)
    cancel = Operation(evaluation_calls.cancel)
    retry = Operation(evaluation_calls.retry)
    erase = Operation(evaluation_calls.erase)
    erase_everywhere = Operation(erasure_calls.erase_everywhere)
    erasure_proof = Operation(erasure_calls.erasure_proof)
    audit_entries = Operation(audit_calls.audit_entries)
    audit_tip = Operation(audit_calls.audit_tip)
    invite = Operation(people_calls.invite)
    members = Operation(people_calls.members)
    member_mails = Operation(people_calls.member_mails)
    change_member = Operation(people_calls.change_member)
    remove_member = Operation(people_calls.remove_member)
    give_key = Operation(people_calls.give_key)
    call_reviewers = Operation(reviewing_calls.call_reviewers)
    choose_reviewers = Operation(reviewing_calls.choose_reviewers)
    invite_reviewer = Operation(reviewing_calls.invite_reviewer)
    assign = Operation(reviewing_calls.assign)
    assignments = Operation(reviewing_calls.assignments)
    withdraw_assignment = Operation(reviewing_calls.withdraw_assignment)
    conflicts = Operation(reviewing_calls.conflicts)
    declare_conflict = Operation(reviewing_calls.declare_conflict)
    clear_conflict = Operation(reviewing_calls.clear_conflict)
    proposal_text = Operation(reviewing_calls.proposal_text)
    give_opinion = Operation(reviewing_calls.give_opinion)
    revise_opinion = Operation(reviewing_calls.revise_opinion)
    opinions = Operation(reviewing_calls.opinions)
    judge_point = Operation(reviewing_calls.judge_point)
    judgements = Operation(reviewing_calls.judgements)
    contestation = Operation(contestation_calls.contestation)
    remark = Operation(reviewing_calls.remark)
    remarks = Operation(reviewing_calls.remarks)
    panel = Operation(reviewing_calls.panel)
    override_score = Operation(reviewing_calls.override_score)
    sign_off = Operation(reviewing_calls.sign_off)
    methods = Operation(evaluation_calls.methods)
    submit_files = Operation(batch_calls.submit_files)
    add_files = Operation(batch_calls.add_files)
    submit_rows = Operation(batch_calls.submit_rows)
    estimate_files = Operation(batch_calls.estimate_files)
    estimate_rows = Operation(batch_calls.estimate_rows)
    batch = Operation(batch_calls.batch)
    cancel_batch = Operation(batch_calls.cancel_batch)
    retry_batch = Operation(batch_calls.retry_batch)
    batches = Operation(batch_calls.batches)
    change_batch = Operation(batch_calls.change_batch)
    compare = Operation(comparison_calls.compare)
    comparison = Operation(comparison_calls.comparison)
    cancel_comparison = Operation(comparison_calls.cancel_comparison)
    comparisons = Operation(comparison_calls.comparisons)
    rank = Operation(ranking_calls.rank)
    ranking = Operation(ranking_calls.ranking)
    ranking_report = Operation(ranking_calls.ranking_report)
    ranking_comparisons = Operation(ranking_calls.ranking_comparisons)
    ranking_text = Operation(ranking_calls.ranking_text)
    cancel_ranking = Operation(ranking_calls.cancel_ranking)
    rankings = Operation(ranking_calls.rankings)
    search_corpus = Operation(corpus_calls.search_corpus)
    references = Operation(reference_calls.references)
    create_webhook = Operation(webhook_calls.create_webhook)
    webhooks = Operation(webhook_calls.webhooks)
    deliveries = Operation(webhook_calls.deliveries)
    ping_webhook = Operation(webhook_calls.ping_webhook)
    delete_webhook = Operation(webhook_calls.delete_webhook)
    create_tenant = Operation(account_calls.create_tenant)
    tenants = Operation(account_calls.tenants)
    tenant = Operation(account_calls.tenant)
    change_tenant = Operation(account_calls.change_tenant)
    delete_tenant = Operation(account_calls.delete_tenant)
    create_key = Operation(account_calls.create_key)
    keys = Operation(account_calls.keys)
    revoke_key = Operation(account_calls.revoke_key)
    usage = Operation(account_calls.usage)
