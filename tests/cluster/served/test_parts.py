"""Parts reached through pools keep the contracts of those at hand: answers, errors, cancellation, deadlines, deaths."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

import numpy as np
import pytest
from ray import serve
from tenacity import retry, retry_if_exception_type, wait_fixed

from assayer.errors import AssayerError, CorpusError, LlmRejected, LlmUnavailable, SourceBusy, Unreadable
from assayer.models import Fault
from assayer.run.context_variables import urgency
from benchmarks.gateway.questions import JUDGING, a_statement
from benchmarks.simulator.process import Simulator
from cluster.clock import SystemClock
from cluster.serving.llm_pool import LlmReplica, PooledLlmTransport
from cluster.serving.model_pools import EmbedderReplica, PooledEmbedder
from cluster.serving.pool_client import PoolClient, PoolFull, ReplicaLost
from cluster.serving.replica import ReplicaConfig
from tests.cluster.processes import replica
from tests.cluster.served.specimen import Specimen
from tests.contract.weighing import a_run
from tests.corpus_papers import OFF_FIELD, ON_TOPIC
from tests.polling import wait_until_async
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings
from workers.llm import LlmSettings
from workers.llm.answer_store import InMemoryAnswerStore
from workers.llm.errors import ErrorBody, PermanentLlmFailure, SendStats, TransientLlmFailure
from workers.llm.gateway import LlmGateway

pytestmark = pytest.mark.usefixtures("cluster")

SECONDS, PATIENCE = 30.0, 60.0


def _pool(kind: type[Any], *arguments: Any, **options: Any) -> PoolClient[Any]:
    """One process of its own, called patiently."""
    name = kind.__name__
    chosen: dict[str, Any] = {"health_check_period_s": 1.0, "max_ongoing_requests": 64, **options}
    deployment = serve.deployment(name=name, ray_actor_options={"num_cpus": 0.1}, **chosen)(kind)
    handle = serve.run(deployment.bind(*arguments), name=name, route_prefix=None)
    return PoolClient(handle, SECONDS, PATIENCE)


@pytest.fixture(scope="module")
def specimen(cluster: None) -> Iterator[PoolClient[Specimen]]:
    yield _pool(Specimen, max_ongoing_requests=4, max_queued_requests=1)
    serve.delete("Specimen")


@pytest.fixture(scope="module")
def line(cluster: None) -> Iterator[PoolClient[LlmReplica]]:
    yield _pool(LlmReplica, ReplicaConfig())
    serve.delete("LlmReplica")


def _late() -> TransientLlmFailure:
    failure = TransientLlmFailure(Fault(kind="timeout", detail="late"), overloaded=True, retry_after=2.0)
    failure.stats = SendStats(2, 1.5)
    return failure


@pytest.mark.parametrize(
    "error",
    [
        CorpusError("The corpus is gone.", "Build it."),
        SourceBusy("No turn."),
        Unreadable("It is a poster.", "", "other_document"),
        LlmUnavailable("Down.", "Wait.", (Fault(kind="timeout", detail="late"),)),
        _late(),
        PermanentLlmFailure("quota", 429, ErrorBody("no more", "insufficient_quota", "")),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_error_of_a_pool_arrives_in_its_own_type_with_all_it_says(
    specimen: PoolClient[Specimen], error: AssayerError | TransientLlmFailure | PermanentLlmFailure
) -> None:
    with pytest.raises(type(error)) as raised:
        await specimen.ask(Specimen.fail, error)
    assert type(raised.value) is type(error)
    assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))


async def test_a_call_that_somebody_waits_for_is_known_as_one_where_it_is_answered(
    specimen: PoolClient[Specimen],
) -> None:
    assert not await specimen.ask(Specimen.waited_for)
    with urgency(urgent=True):
        assert await specimen.ask(Specimen.waited_for)


async def test_caller_who_is_cancelled_takes_the_call_along(specimen: PoolClient[Specimen]) -> None:
    before = await specimen.ask(Specimen.seen, "waiting")
    ended = await specimen.ask(Specimen.seen, "cancelled")
    waiting = asyncio.create_task(specimen.ask(Specimen.wait))

    async def begun() -> bool:
        return await specimen.ask(Specimen.seen, "waiting") > before

    async def stopped() -> bool:
        return await specimen.ask(Specimen.seen, "cancelled") > ended

    await wait_until_async(begun)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    await wait_until_async(stopped)


async def test_call_beyond_its_deadline_is_given_up_over_there_too(specimen: PoolClient[Specimen]) -> None:
    ended = await specimen.ask(Specimen.seen, "cancelled")
    with pytest.raises(ReplicaLost, match=r"did not answer within 0\.5 s"):
        await PoolClient(specimen.handle, 0.5, PATIENCE).once(Specimen.wait)

    async def stopped() -> bool:
        return await specimen.ask(Specimen.seen, "cancelled") > ended

    await wait_until_async(stopped)


async def test_pool_that_has_more_to_do_than_it_can_queue_says_so(specimen: PoolClient[Specimen]) -> None:
    calls = [asyncio.create_task(specimen.once(Specimen.wait)) for _ in range(8)]
    done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    assert {type(one.exception()) for one in done} == {PoolFull}
    for one in waiting:
        one.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert await specimen.ask(Specimen.echo, "again") == "again"


async def test_call_whose_process_is_killed_is_made_again_where_it_may_be(specimen: PoolClient[Specimen]) -> None:
    process = await specimen.ask(Specimen.pid)
    before = await specimen.ask(Specimen.seen, "waiting")

    @retry(retry=retry_if_exception_type(PoolFull), wait=wait_fixed(0.05))
    async def admitted() -> None:
        """The pool's queue is short: what is asked at the same time may fill it."""
        await specimen.once(Specimen.wait)

    waiting = asyncio.create_task(admitted())

    async def begun() -> bool:
        return await specimen.ask(Specimen.seen, "waiting") > before

    await wait_until_async(begun)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(ReplicaLost):
        await waiting
    assert await specimen.ask(Specimen.echo, "again") == "again"
    assert await specimen.ask(Specimen.pid) != process


@pytest.fixture
async def asked(line: PoolClient[LlmReplica], simulator: Simulator) -> AsyncIterator[LlmGateway]:
    simulator.configure(latency_mean=0, api_key=None, rate_limit_rate=0)
    simulator.reset()
    settings = LlmSettings(base_url=simulator.base_url, model="simulated", backoff_initial_seconds=0.01)
    served = PooledLlmTransport(line, simulator.base_url)
    async with aclosing(LlmGateway(settings, InMemoryAnswerStore(), SystemClock(), served)) as gateway:
        yield gateway


async def test_gateway_before_a_served_line_answers_and_retries(asked: LlmGateway, simulator: Simulator) -> None:
    simulator.configure(rate_limit_rate=0.3, retry_after=0.01)
    run = a_run("answers")
    answers = await asyncio.gather(*(asked.run(JUDGING, a_statement(one, 200), run) for one in range(40)))
    assert sum(one.record.attempts for one in answers) == simulator.stats().requests
    assert len(answers) == 40


async def test_two_runs_with_one_question_in_flight_pay_once(asked: LlmGateway, simulator: Simulator) -> None:
    simulator.configure(latency_mean=1.0)
    other = LlmGateway(
        LlmSettings(base_url=simulator.base_url, model="simulated"),
        InMemoryAnswerStore(),
        SystemClock(),
        asked._transport,
    )
    both = await asyncio.gather(
        asked.run(JUDGING, a_statement(100, 200), a_run("one")), other.run(JUDGING, a_statement(100, 200), a_run("two"))
    )
    assert sorted(one.record.attempts for one in both) == [0, 1]
    assert simulator.stats().requests == 1


async def test_cancelled_run_ends_its_request_at_the_endpoint(asked: LlmGateway, simulator: Simulator) -> None:
    simulator.configure(latency_mean=60.0)
    asking = asyncio.create_task(asked.run(JUDGING, a_statement(200, 200), a_run("cancelled")))

    async def begun() -> bool:
        return simulator.stats().in_flight == 1

    async def ended() -> bool:
        return simulator.stats().in_flight == 0

    await wait_until_async(begun)
    asking.cancel()
    await wait_until_async(ended)
    assert simulator.stats().answered == 0


async def test_wrong_key_is_refused_in_plain_words(asked: LlmGateway, simulator: Simulator) -> None:
    simulator.configure(api_key="sk-another")
    with pytest.raises(LlmRejected, match="refuses the API key"):
        await asked.run(JUDGING, a_statement(300, 200), a_run("refused"))
    with pytest.raises(LlmRejected, match="refuses the API key"):
        await asked.probe()


async def test_question_is_asked_again_when_the_line_dies_and_the_answer_is_had_once(
    asked: LlmGateway, simulator: Simulator
) -> None:
    simulator.configure(latency_mean=1.0)
    asking = asyncio.create_task(asked.run(JUDGING, a_statement(400, 200), a_run("killed")))

    async def begun() -> bool:
        return simulator.stats().in_flight == 1

    await wait_until_async(begun)
    process = replica(os.getpid(), "LlmReplica")
    assert process is not None
    process.kill()
    answer = await asking
    assert answer.record.faults[0].kind == "connection"
    assert simulator.stats().answered == 1


async def test_served_embedder_gives_the_vectors_of_the_one_at_hand(cluster: None) -> None:
    caller = _pool(EmbedderReplica, ReplicaConfig())
    served = await PooledEmbedder.open(caller)
    texts = [ON_TOPIC, OFF_FIELD, ""]
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as local:
        assert (served.name, served.dimensions) == (local.name, local.dimensions)
        assert np.array_equal(await served.embed(texts, "passage"), await local.embed(texts, "passage"))
        assert (await served.embed([], "query")).shape == (0, local.dimensions)
