"""Parts reached through pools keep the contracts of those at hand: answers, errors, cancellation, deadlines, deaths."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray import serve
from tenacity import retry, retry_if_exception_type, wait_fixed

from assayer.errors import AssayerError, CorpusError, LlmUnavailable, SourceBusy, Unreadable
from assayer.models import Fault
from assayer.ports import LexicalEmbedder
from assayer.run.context_variables import urgency
from cluster.serving.embedder_and_reranker_pools import EmbedderReplica, PooledEmbedder, PooledReranker, RerankerReplica
from cluster.serving.pool_client import PoolClient, PoolFull, ReplicaLost
from cluster.serving.replica import ReplicaConfig
from tests.cluster.served.specimen import Specimen
from tests.contract.bge_models import create_small_bge_m3, create_small_llm_reranker
from tests.corpus_papers import OFF_FIELD, ON_TOPIC
from tests.polling import wait_until_async
from workers.embedding.embedder import BgeM3Embedder, SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings
from workers.llm.error_body import ErrorBody
from workers.llm.errors import PermanentLlmFailure, ReadTokens, TransientLlmFailure
from workers.reranking import RerankerSettings
from workers.reranking.reranker import LocalReranker

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]

SECONDS, PATIENCE = 30.0, 60.0


def _deploy_pool(
    kind: type[Any], *arguments: Any, environment: dict[str, str] | None = None, **options: Any
) -> PoolClient[Any]:
    """Deploy the class in one process of its own; return a client that retries."""
    name = kind.__name__ + "-elsewhere" * bool(environment)
    ray_options = {"num_cpus": 0.1, "runtime_env": {"env_vars": environment or {}}}
    chosen: dict[str, Any] = {"health_check_period_s": 1.0, "max_ongoing_requests": 64, **options}
    deployment = serve.deployment(name=name, ray_actor_options=ray_options, **chosen)(kind)
    handle = serve.run(deployment.bind(*arguments), name=name, route_prefix=None)
    return PoolClient(handle, SECONDS, PATIENCE)


@pytest.fixture(scope="module")
def specimen(cluster: None) -> Iterator[PoolClient[Specimen]]:
    yield _deploy_pool(Specimen, max_ongoing_requests=4, max_queued_requests=1)
    serve.delete("Specimen")


def _create_late_failure() -> TransientLlmFailure:
    failure = TransientLlmFailure(Fault(kind="timeout", detail="late"), is_overload=True, retry_after=2.0)
    failure.read_tokens = ReadTokens(2, 1)
    return failure


@pytest.mark.parametrize(
    "error",
    [
        CorpusError("The corpus is gone.", "Build it."),
        SourceBusy("No turn."),
        Unreadable("It is a poster.", "", "other_document"),
        LlmUnavailable("Down.", "Wait.", (Fault(kind="timeout", detail="late"),)),
        _create_late_failure(),
        PermanentLlmFailure("quota", 429, ErrorBody("no more", "insufficient_quota", "")),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_pool_error_keeps_its_type_and_attributes(
    specimen: PoolClient[Specimen], error: AssayerError | TransientLlmFailure | PermanentLlmFailure
) -> None:
    with pytest.raises(type(error)) as raised:
        await specimen.ask(Specimen.fail, error)
    assert type(raised.value) is type(error)
    assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))


async def test_urgent_flag_of_a_request_reaches_the_replica(specimen: PoolClient[Specimen]) -> None:
    assert not await specimen.ask(Specimen.waited_for)
    with urgency(urgent=True):
        assert await specimen.ask(Specimen.waited_for)


async def test_cancelling_the_caller_cancels_the_replica_request(specimen: PoolClient[Specimen]) -> None:
    before = await specimen.ask(Specimen.seen, "waiting")
    cancelled_before = await specimen.ask(Specimen.seen, "cancelled")
    waiting = asyncio.create_task(specimen.ask(Specimen.wait))

    async def has_begun() -> bool:
        return await specimen.ask(Specimen.seen, "waiting") > before

    async def has_stopped() -> bool:
        return await specimen.ask(Specimen.seen, "cancelled") > cancelled_before

    await wait_until_async(has_begun)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    await wait_until_async(has_stopped)


async def test_request_past_its_deadline_is_cancelled_on_the_replica(specimen: PoolClient[Specimen]) -> None:
    cancelled_before = await specimen.ask(Specimen.seen, "cancelled")
    with pytest.raises(ReplicaLost, match=r"did not answer within 0\.5 s"):
        await PoolClient(specimen.handle, 0.5, PATIENCE).call_once(Specimen.wait)

    async def has_stopped() -> bool:
        return await specimen.ask(Specimen.seen, "cancelled") > cancelled_before

    await wait_until_async(has_stopped)


async def test_full_pool_queue_rejects_further_requests(specimen: PoolClient[Specimen]) -> None:
    calls = [asyncio.create_task(specimen.call_once(Specimen.wait)) for _ in range(8)]
    finished, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    assert {type(item.exception()) for item in finished} == {PoolFull}
    for item in waiting:
        item.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert await specimen.ask(Specimen.echo, "again") == "again"


async def test_killed_replica_fails_the_request_and_is_replaced(specimen: PoolClient[Specimen]) -> None:
    process = await specimen.ask(Specimen.pid)
    before = await specimen.ask(Specimen.seen, "waiting")

    @retry(retry=retry_if_exception_type(PoolFull), wait=wait_fixed(0.05))
    async def wait_for_admission() -> None:
        """The pool's queue is short: what is asked at the same time may fill it."""
        await specimen.call_once(Specimen.wait)

    waiting = asyncio.create_task(wait_for_admission())

    async def has_begun() -> bool:
        return await specimen.ask(Specimen.seen, "waiting") > before

    await wait_until_async(has_begun)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(ReplicaLost):
        await waiting
    assert await specimen.ask(Specimen.echo, "again") == "again"
    assert await specimen.ask(Specimen.pid) != process


async def test_served_embedder_returns_the_same_vectors_as_the_local_embedder(cluster: None) -> None:
    caller = _deploy_pool(EmbedderReplica, ReplicaConfig())
    served = await PooledEmbedder.open(caller)
    texts = [ON_TOPIC, OFF_FIELD, ""]
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as local:
        assert (served.name, served.dimensions) == (local.name, local.dimensions)
        assert np.array_equal(await served.embed(texts, "passage"), await local.embed(texts, "passage"))
        assert (await served.embed([], "query")).shape == (0, local.dimensions)
    assert not isinstance(served, LexicalEmbedder)


async def test_served_bge_m3_and_llm_reranker_match_local_models(cluster: None, tmp_path: Path) -> None:
    embedding = EmbedderSettings(library="FlagEmbedding", model=str(create_small_bge_m3(tmp_path / "bge-m3")))
    reranking = RerankerSettings(library="FlagEmbedding", model=str(create_small_llm_reranker(tmp_path / "gemma")))
    environment = {
        "ASSAYER_EMBEDDER__LIBRARY": embedding.library,
        "ASSAYER_EMBEDDER__MODEL": embedding.model,
        "ASSAYER_RERANKER__LIBRARY": reranking.library,
        "ASSAYER_RERANKER__MODEL": str(reranking.model),
    }
    texts = [ON_TOPIC, OFF_FIELD, ""]
    served = await PooledEmbedder.open(_deploy_pool(EmbedderReplica, ReplicaConfig(), environment=environment))
    with closing(BgeM3Embedder(embedding)) as local:
        assert isinstance(served, LexicalEmbedder)
        assert (served.name, served.dimensions) == (local.name, local.dimensions)
        served_batch = await served.embed_with_weights(texts, "passage")
        local_batch = await local.embed_with_weights(texts, "passage")
        assert np.array_equal(served_batch.vectors, local_batch.vectors)
        for item, other in zip(served_batch.lexical, local_batch.lexical, strict=True):
            assert np.array_equal(item.tokens, other.tokens)
            assert np.array_equal(item.weights, other.weights)
    reranker = await PooledReranker.open(_deploy_pool(RerankerReplica, ReplicaConfig(), environment=environment))
    with closing(LocalReranker(reranking)) as own:
        assert list(await reranker.score("bees", texts)) == list(await own.score("bees", texts))
