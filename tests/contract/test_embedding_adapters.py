"""Adapters in AdapterHub's format, on a BERT as small as can be; the hub's own weights were not at hand."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from tests.contract.adapted_model import HIDDEN, build_small_bert, create_adapted_model, save_adapter
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

TEXTS = ("bees pollinate orchards", "compilers fuse loops", "", "bees " * 100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_adapted_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Iterator[SentenceTransformerEmbedder]:
    settings = EmbedderSettings(model=str(folder), precision="float32", device="cpu")
    with closing(SentenceTransformerEmbedder(settings)) as embedder:
        yield embedder


def test_adapted_model_matches_adapters_library_output(tmp_path: Path) -> None:
    import torch

    from workers.embedding.bottleneck_adapters import apply_adapter

    model = build_small_bert()
    apply_adapter(model, str(save_adapter(tmp_path / "adapter", seed=100)))
    with torch.inference_mode():
        states = model(torch.tensor([[2, 5, 6, 7, 3]])).last_hidden_state[0]
    # by adapters 1.3.0 with transformers 4.57.6, of the same files
    assert states[0, :4].tolist() == pytest.approx([-1.2581457, -1.8862081, -2.4300961, -0.3623021], abs=1e-5)
    assert states[4, -2:].tolist() == pytest.approx([1.9899046, 0.1897363], abs=1e-5)


async def test_queries_and_passages_are_each_embedded_with_their_own_adapter(
    folder: Path, embedder: SentenceTransformerEmbedder
) -> None:
    import torch

    from workers.embedding.bottleneck_adapters import apply_adapter

    queries, passages = await embedder.embed(TEXTS, "query"), await embedder.embed(TEXTS, "passage")
    ids = torch.tensor([[2, 5, 6, 7, 3]])
    for vectors, adapter in ((queries, folder.with_name("specter2_adhoc_query")), (passages, folder)):
        model = build_small_bert()
        apply_adapter(model, str(adapter))
        with torch.inference_mode():
            first = model(ids).last_hidden_state[0, 0].numpy()
        assert vectors[0] @ first / np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    assert (np.abs(queries - passages).max(axis=1) > 0.01).all()


def test_an_adapted_model_has_its_own_name_and_the_dimensions_of_its_base(
    folder: Path, embedder: SentenceTransformerEmbedder
) -> None:
    assert embedder.name == str(folder)
    assert embedder.dimensions == HIDDEN


@pytest.mark.parametrize(
    ("other_config", "message"),
    [
        ({"is_parallel": True}, "not a sequential bottleneck adapter"),
        ({"scaling": "learned"}, "not a sequential bottleneck adapter"),
        ({"non_linearity": "wavy"}, "'wavy' is not supported"),
    ],
)
def test_unsupported_adapter_kind_is_rejected(tmp_path: Path, other_config: dict[str, object], message: str) -> None:
    from workers.embedding.bottleneck_adapters import apply_adapter

    with pytest.raises(ConfigurationError, match=message):
        apply_adapter(build_small_bert(), str(save_adapter(tmp_path / "adapter", 100, **other_config)))


@pytest.mark.parametrize(
    ("lost", "added", "message"),
    [
        ("layer.1.output.adapters.[QRY].adapter_up.bias", None, "weights are missing"),
        ("layer.1.", None, "does not fit this model of 2 layers"),
        (None, "bert.encoder.layer.0.attention.output.adapters.[QRY].adapter_up.bias", "it has unexpected weights"),
    ],
)
def test_adapter_with_mismatched_layer_weights_is_rejected(
    tmp_path: Path, lost: str | None, added: str | None, message: str
) -> None:
    import torch

    from workers.embedding.bottleneck_adapters import apply_adapter

    path = save_adapter(tmp_path / "adapter", 100) / "pytorch_adapter.bin"
    weights = {name: value for name, value in torch.load(path).items() if lost is None or lost not in name}
    torch.save(weights | ({added: torch.zeros(HIDDEN)} if added else {}), path)
    with pytest.raises(ConfigurationError, match=message):
        apply_adapter(build_small_bert(), str(path.parent))


async def test_missing_adapter_file_is_a_configuration_error(tmp_path: Path) -> None:
    folder = create_adapted_model(tmp_path)
    (folder / "pytorch_adapter.bin").unlink()
    with closing(SentenceTransformerEmbedder(EmbedderSettings(model=str(folder)))) as embedder:
        with pytest.raises(ConfigurationError, match=r"pytorch_adapter\.bin"):
            await embedder.embed(TEXTS[:1], "passage")
        assert (await embedder.embed(TEXTS[:1], "query")).shape == (1, HIDDEN)
