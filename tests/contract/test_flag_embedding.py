"""bge-m3 and a language model that reranks, against the classes of FlagEmbedding themselves."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from assayer.ports import LexicalEmbedder
from tests.contract.bge_models import SENTENCES, SHAPE, create_small_bge_m3, create_small_llm_reranker
from tests.contract.reranking_model import create_small_model
from tests.in_memory import HashingLexicalEmbedder
from workers.embedding.embedder import BgeM3Embedder, SentenceTransformerEmbedder, create_local_embedder
from workers.embedding.settings import EmbedderSettings
from workers.flag_embedding import import_flag_embedding
from workers.reranking import RerankerSettings
from workers.reranking.reranker import LocalReranker

TEXTS = [f"{SENTENCES[number % 6]} {'and on ' * (number % 40)}{number}" for number in range(60)] + ["", "and on " * 900]
PAIRS = [(SENTENCES[number % 5], text) for number, text in enumerate(TEXTS)]


def build_embedder_settings(folder: Path, **changed: Any) -> EmbedderSettings:
    fields = {"model": str(folder), "library": "FlagEmbedding", "device": "cpu", "precision": "float32", **changed}
    return EmbedderSettings.model_validate(fields)


def build_reranker_settings(folder: Path, **changed: Any) -> RerankerSettings:
    fields = {"model": str(folder), "library": "FlagEmbedding", "device": "cpu", "precision": "float32", **changed}
    return RerankerSettings.model_validate(fields)


async def get_refusal(settings: EmbedderSettings | RerankerSettings) -> str:
    """Why a model that is set so is refused when it is first asked."""
    if isinstance(settings, RerankerSettings):
        with closing(LocalReranker(settings)) as reranker:
            with pytest.raises(ConfigurationError) as caught:
                await reranker.score("x", ["y"])
            return str(caught.value)
    with closing(create_local_embedder(settings)) as embedder:
        with pytest.raises(ConfigurationError) as caught:
            await embedder.embed(["x"], "query")
        return str(caught.value)


@pytest.fixture(scope="module")
def bge_m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_small_bge_m3(tmp_path_factory.mktemp("bge-m3"))


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_small_llm_reranker(tmp_path_factory.mktemp("gemma"))


@pytest.fixture(scope="module")
def embedder(bge_m3: Path) -> Iterator[BgeM3Embedder]:
    with closing(BgeM3Embedder(build_embedder_settings(bge_m3))) as opened_embedder:
        yield opened_embedder


@pytest.fixture(scope="module")
def reranker(gemma: Path) -> Iterator[LocalReranker]:
    with closing(LocalReranker(build_reranker_settings(gemma))) as opened_reranker:
        yield opened_reranker


@pytest.fixture(scope="module")
def library() -> Any:
    return import_flag_embedding("This test", None)[1]


async def test_vectors_and_lexical_weights_match_flag_embedding(
    embedder: BgeM3Embedder, bge_m3: Path, library: Any
) -> None:
    vectors, lexical = await embedder.embed_with_weights(TEXTS, "passage")
    library_output = library.BGEM3FlagModel(str(bge_m3), use_fp16=False, devices="cpu").encode(
        TEXTS, return_sparse=True
    )
    assert np.abs(vectors - library_output["dense_vecs"]).max() < 1e-6
    for own, other in zip(lexical, library_output["lexical_weights"], strict=True):
        assert set(map(str, own.tokens.tolist())) == other.keys()
        assert own.weights == pytest.approx([float(other[str(item)]) for item in own.tokens.tolist()], abs=1e-5)
        assert (np.diff(own.tokens) > 0).all()
    assert sum(len(item.tokens) for item in lexical) > 300, "a test of weights needs some"


async def test_vectors_match_sentence_transformers(embedder: BgeM3Embedder, bge_m3: Path, tmp_path: Path) -> None:
    folder = tmp_path / "as-downloaded"
    shutil.copytree(bge_m3, folder)
    settings = EmbedderSettings(model=str(folder), pooling="cls", device="cpu", precision="float32")
    with closing(SentenceTransformerEmbedder(settings)) as other_embedder:
        assert (
            np.abs(
                await other_embedder.embed(TEXTS[:20], "passage") - await embedder.embed(TEXTS[:20], "passage")
            ).max()
            < 1e-6
        )


@pytest.fixture(scope="module", params=["float32", "bfloat16", "twin"])
def lexical_embedder(bge_m3: Path, request: pytest.FixtureRequest) -> Iterator[LexicalEmbedder]:
    """Each implementation of the port."""
    if request.param == "twin":
        yield HashingLexicalEmbedder()
        return
    with closing(BgeM3Embedder(build_embedder_settings(bge_m3, precision=request.param))) as opened_embedder:
        yield opened_embedder


async def test_lexical_weights_are_positive_with_ascending_token_ids(lexical_embedder: LexicalEmbedder) -> None:
    vectors, lexical = await lexical_embedder.embed_with_weights(TEXTS, "query")
    assert len(vectors) == len(lexical) == len(TEXTS)
    for item in lexical:
        assert item.tokens.dtype == np.dtype(np.int32)
        assert item.weights.dtype == np.dtype(np.float32)
        assert (np.diff(item.tokens) > 0).all()
        assert (item.weights > 0).all()
    assert len((await lexical_embedder.embed_with_weights([], "passage")).lexical) == 0


async def test_text_embedding_is_bit_identical_alone_and_in_batch(lexical_embedder: LexicalEmbedder) -> None:
    vectors, lexical = await lexical_embedder.embed_with_weights(TEXTS, "passage")
    turned, other_batch = await lexical_embedder.embed_with_weights(TEXTS[::-1], "passage")
    assert (vectors == turned[::-1]).all()
    for place, text in list(enumerate(TEXTS))[::7]:
        single = await lexical_embedder.embed_with_weights([text], "passage")
        assert (single.vectors[0] == vectors[place]).all()
        for item in (single.lexical[0], other_batch[len(TEXTS) - 1 - place]):
            assert (item.tokens == lexical[place].tokens).all()
            assert (item.weights == lexical[place].weights).all()


async def test_concurrent_query_embeddings_are_consistent_and_empty_input_is_empty(embedder: BgeM3Embedder) -> None:
    answers = await asyncio.gather(*(embedder.embed_with_weights([text], "query") for text in TEXTS[:20] * 2))
    for first, second in zip(answers[:20], answers[20:], strict=True):
        assert (first.vectors == second.vectors).all()
        assert (first.lexical[0].weights == second.lexical[0].weights).all()
    assert (await embedder.embed([], "query")).shape == (0, embedder.dimensions)
    assert (await embedder.embed_with_weights([], "passage")).lexical == ()


async def test_cached_query_vector_keeps_no_other_vector_of_its_batch(embedder: BgeM3Embedder) -> None:
    await embedder.embed(["First question.", "Second question."], "query")
    assert [text for text, row in embedder._memo._rows.items() if row.vector.base is not None] == []


def test_settings_select_the_library_without_changing_the_model_name(bge_m3: Path) -> None:
    chosen, usual = (
        create_local_embedder(build_embedder_settings(bge_m3)),
        create_local_embedder(EmbedderSettings(model=str(bge_m3))),
    )
    assert isinstance(chosen, LexicalEmbedder)
    assert not isinstance(usual, LexicalEmbedder)
    assert chosen.name == usual.name
    assert chosen.dimensions == 64


async def test_model_without_heads_is_rejected_naming_missing_files(tmp_path: Path) -> None:
    folder = create_small_bge_m3(tmp_path / "no-heads", with_heads=False)
    refusal = await get_refusal(build_embedder_settings(folder))
    assert "lacks sparse_linear.pt and colbert_linear.pt" in refusal
    assert "ASSAYER_EMBEDDER__LIBRARY=sentence-transformers" in refusal


async def test_mismatched_heads_and_missing_folder_are_rejected(bge_m3: Path, tmp_path: Path) -> None:
    import torch

    folder = tmp_path / "other-heads"
    shutil.copytree(bge_m3, folder)
    torch.save(torch.nn.Linear(5, 1).state_dict(), folder / "sparse_linear.pt")
    assert "could not be loaded with FlagEmbedding" in await get_refusal(build_embedder_settings(folder))
    assert "does not exist" in await get_refusal(build_embedder_settings(tmp_path / "none"))


async def test_model_error_reaches_the_caller(bge_m3: Path) -> None:
    """FlagEmbedding's own `encode` takes every RuntimeError for too large a batch."""
    with closing(BgeM3Embedder(build_embedder_settings(bge_m3))) as opened_embedder:
        await opened_embedder.embed(["x"], "query")

        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("the device is gone")

        opened_embedder._model._model.model.forward = broken
        with pytest.raises(RuntimeError, match="the device is gone"):
            await opened_embedder.embed(["y"], "query")


async def test_reranker_scores_match_flag_embedding(reranker: LocalReranker, gemma: Path, library: Any) -> None:
    library_scores = library.FlagLLMReranker(str(gemma), use_fp16=False, devices="cpu").compute_score(
        PAIRS, normalize=True
    )
    own_scores = [(await reranker.score(query, [text]))[0] for query, text in PAIRS]
    assert own_scores == pytest.approx(library_scores, abs=1e-5)
    assert max(own_scores) - min(own_scores) > 0.01, "a test of scores needs different ones"


async def test_long_query_and_text_are_truncated_like_flag_embedding(
    reranker: LocalReranker, gemma: Path, library: Any
) -> None:
    long = (" ".join(TEXTS), " ".join(TEXTS[::-1]))
    flag = library.FlagLLMReranker(str(gemma), use_fp16=False, devices="cpu")
    assert await reranker.score(long[0], [long[1]]) == pytest.approx(
        flag.compute_score([long], normalize=True), abs=1e-6
    )


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
async def test_pair_score_is_bit_identical_alone_and_in_batch(gemma: Path, precision: str) -> None:
    with closing(LocalReranker(build_reranker_settings(gemma, precision=precision))) as reranker:
        together = list(await reranker.score(SENTENCES[0], TEXTS))
        assert list(await reranker.score(SENTENCES[0], TEXTS[::-1])) == together[::-1]
        assert [(await reranker.score(SENTENCES[0], [text]))[0] for text in TEXTS[::7]] == together[::7]


async def test_half_precision_results_are_close_to_full_precision(
    gemma: Path, bge_m3: Path, reranker: LocalReranker, embedder: BgeM3Embedder
) -> None:
    with closing(LocalReranker(build_reranker_settings(gemma, precision="bfloat16"))) as coarse:
        scores = await coarse.score(SENTENCES[0], TEXTS[:20])
        assert scores == pytest.approx(await reranker.score(SENTENCES[0], TEXTS[:20]), abs=0.1)
        assert len(set(scores)) > 10
    with closing(BgeM3Embedder(build_embedder_settings(bge_m3, precision="bfloat16"))) as rough:
        near = (await rough.embed(TEXTS[:20], "passage") * await embedder.embed(TEXTS[:20], "passage")).sum(axis=1)
        assert near.min() > 0.99


async def test_unsupported_language_model_is_rejected_with_reason(tmp_path: Path, gemma: Path) -> None:
    refusal = await get_refusal(build_reranker_settings(create_small_model(tmp_path / "cross-encoder")))
    assert "is not a language model" in refusal
    assert "contains XLMRobertaForSequenceClassification" in refusal
    assert "ASSAYER_RERANKER__LIBRARY=sentence-transformers" in refusal
    layered = tmp_path / "layer-wise"
    shutil.copytree(gemma, layered)
    config = json.loads((layered / "config.json").read_text())
    (layered / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModelForCausalLM": "own.Code"}}))
    assert "its own code" in await get_refusal(build_reranker_settings(layered))


async def test_model_with_logit_softcapping_is_rejected(tmp_path: Path, gemma: Path) -> None:
    from transformers import AutoTokenizer, Gemma2Config, Gemma2ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(gemma)
    config = Gemma2Config(
        vocab_size=len(tokenizer),
        head_dim=16,
        final_logit_softcapping=0.02,
        num_hidden_layers=1,
        num_key_value_heads=1,
        **SHAPE,
    )
    model: Any = Gemma2ForCausalLM(config)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert "changes its logits after the last layer" in await get_refusal(build_reranker_settings(tmp_path))


def run_elsewhere(code: str) -> str:
    """Return the standard error of code run in a separate process, with the hub offline."""
    variables = {**os.environ, "HF_HUB_OFFLINE": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, timeout=300, capture_output=True, text=True, env=variables
    )
    return result.stderr


def test_missing_package_error_names_the_extra(bge_m3: Path) -> None:
    code = (
        "import asyncio, importlib.util, sys\n"
        "from workers import flag_embedding\n"
        "from workers.embedding.embedder import create_local_embedder\n"
        "from workers.embedding.settings import EmbedderSettings\n"
        "flag_embedding.find_spec = lambda name: None\n"
        f"made = create_local_embedder(EmbedderSettings(model={str(bge_m3)!r}, library='FlagEmbedding'))\n"
        "assert 'torch' not in sys.modules\n"
        "asyncio.run(made.embed(['x'], 'query'))\n"
    )
    output = run_elsewhere(code)
    assert "ConfigurationError: Embedding with bge-m3 needs FlagEmbedding, which is not installed." in output
    assert "pip install 'assayer-research[bge]'" in output


@pytest.mark.slow
def test_unavailable_hub_model_error_names_its_setting() -> None:
    code = (
        "import asyncio\n"
        "from workers.reranking import RerankerSettings\n"
        "from workers.reranking.reranker import LocalReranker\n"
        "made = LocalReranker(RerankerSettings(model='nobody/nothing', library='FlagEmbedding'))\n"
        "asyncio.run(made.score('x', ['y']))\n"
    )
    output = run_elsewhere(code)
    assert "ConfigurationError: The model 'nobody/nothing' could not be loaded with FlagEmbedding" in output
    assert "Check ASSAYER_RERANKER__MODEL. If HF_HUB_OFFLINE is set, the model must already be downloaded." in output
