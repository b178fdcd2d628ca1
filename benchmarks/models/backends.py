"""`python -m benchmarks.models.backends PAPERS`: the packaged model in torch and in ONNX Runtime, in single precision,
bfloat16 and eight-bit integers, on the embedder's own passes, in turns: CPU time a text, how the vectors agree, whether
they are the same in other company, and whether a paper is still found by its title among abstracts."""

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.index.machine import machine
from benchmarks.models.papers import texts_of
from workers.batching.padded_batches import TokenizedText, pad_batch
from workers.embedding.sentence_model import EmbeddingInput, SentenceModel
from workers.embedding.settings import EmbedderSettings

Vectors = NDArray[np.float32]
Compute = Callable[[int, Sequence[TokenizedText]], Sequence[Vectors]]

_INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


class Contender(NamedTuple):
    name: str
    computes: Compute


class States(torch.nn.Module):
    """The transformer with its inputs and its output by position, as an exporter wants them."""

    def __init__(self, transformer: Any) -> None:
        super().__init__()
        self._transformer = transformer

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self._transformer(**dict(zip(_INPUTS, inputs, strict=True))).last_hidden_state
        return states


def exported(model: SentenceModel, path: Path) -> Path:
    transformer = model._model[0].auto_model.eval()
    examples = tuple(torch.ones((8, 32), dtype=torch.int64) for _ in _INPUTS)
    axes = {0: torch.export.Dim("rows"), 1: torch.export.Dim("width", max=512)}
    torch.onnx.export(
        States(transformer), examples, path, input_names=_INPUTS, output_names=["states"],
        dynamic_shapes=((axes,) * len(_INPUTS),), dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
    return path


def in_onnx_runtime(path: Path, model: SentenceModel, threads: int) -> Compute:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def compute(shape: int, some: Sequence[TokenizedText]) -> Sequence[Vectors]:
        features = pad_batch(some, model.rows(shape), shape, 0)
        (states,) = session.run(None, {name: features[name] for name in _INPUTS})
        read = features["attention_mask"][:, :, None]
        rows = ((states * read).sum(axis=1) / read.sum(axis=1))[: len(some)]
        return list((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))

    return compute


def contenders(threads: int, folder: Path) -> list[Contender]:
    torch_models = {}
    for precision in ("float32", "bfloat16"):
        torch_models[precision] = SentenceModel(EmbedderSettings(precision=precision, threads=threads, device="cpu"))
        torch_models[precision].prepare([EmbeddingInput("loads", "query")])
    exact = torch_models["float32"]
    whole, bytes_ = folder / "float32.onnx", folder / "int8.onnx"
    if not whole.exists():
        exported(exact, whole)
        quantize_dynamic(whole, bytes_, weight_type=QuantType.QInt8, per_channel=True)
    return [
        Contender("torch float32", exact.compute),
        Contender("torch bfloat16", torch_models["bfloat16"].compute),
        Contender("ONNX float32", in_onnx_runtime(whole, exact, threads)),
        Contender("ONNX int8", in_onnx_runtime(bytes_, exact, threads)),
    ]


def passes(model: SentenceModel, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[list[int]]:
    """Rows of texts that share a pass, and with them what the model reads of each."""
    by_shape: dict[int, list[int]] = defaultdict(list)
    for row, one in enumerate(model.prepare([EmbeddingInput(text, kind) for text in texts])):
        by_shape[model.shape(one)].append(row)
    return [
        rows[first : first + model.rows(shape)]
        for shape, rows in by_shape.items()
        for first in range(0, len(rows), model.rows(shape))
    ]


def embedded(compute: Compute, model: SentenceModel, texts: Sequence[str]) -> tuple[Vectors, float]:
    """And milliseconds of CPU a text, reading left out."""
    ready = model.prepare([EmbeddingInput(text, "passage") for text in texts])
    vectors = np.empty((len(texts), model.dimensions()), np.float32)
    groups = passes(model, texts, "passage")
    started = time.process_time()
    for rows in groups:
        some = [ready[row] for row in rows]
        vectors[rows] = compute(model.shape(some[0]), some)
    return vectors, (time.process_time() - started) / len(texts) * 1000


def found(titles: Vectors, abstracts: Vectors) -> str:
    """Of each title its own abstract."""
    better = (titles @ abstracts.T >= (titles * abstracts).sum(axis=1)[:, None]).sum(axis=1)
    return f"first {np.mean(better <= 1):.4f}, in the first ten {np.mean(better <= 10):.4f}"


def same_in_company(compute: Compute, model: SentenceModel, texts: Sequence[str]) -> str:
    """Texts of which the vector is the same, to the last bit, beside other texts."""
    order = np.random.default_rng(7).permutation(len(texts))
    one, other = embedded(compute, model, texts)[0], embedded(compute, model, [texts[row] for row in order])[0]
    off = np.abs(one[order] - other)
    return f"{np.mean(off.max(axis=1) == 0):.0%} the same in other company, off by {off.max():.1e}"


def speed(model: SentenceModel, some: Sequence[Contender], turns: int, kinds: dict[str, list[str]]) -> None:
    for kind, texts in kinds.items():
        took: dict[str, list[float]] = {one.name: [] for one in some}
        for _ in range(turns):
            for one in some:
                took[one.name].append(embedded(one.computes, model, texts)[1])
        base = took[some[0].name]
        for name, times in took.items():
            ratio = statistics.median(mine / theirs for mine, theirs in zip(times, base, strict=True))
            print(f"  {kind:<9} {name:<15} {statistics.median(times):6.1f} ms of CPU a text, {ratio:.2f} of the first")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", type=Path, help="records, .jsonl.gz")
    parser.add_argument("--texts", type=int, default=96, help="timed in each turn")
    parser.add_argument("--known", type=int, default=600, help="papers to be found by their titles")
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    print(machine())
    texts = texts_of(chosen.papers, max(chosen.texts, chosen.known))
    titles, abstracts = map(list, zip(*(text.split("\n", 1) for text in texts), strict=True))
    model = SentenceModel(EmbedderSettings())
    with tempfile.TemporaryDirectory() as name:
        for threads in (1, 2):
            some = contenders(threads, Path(name))
            print(f"{threads} threads")
            speed(model, some, chosen.turns, {"abstracts": texts[: chosen.texts], "titles": titles[: chosen.texts]})
        exact: Vectors | None = None
        for one in some:
            asked, _ = embedded(one.computes, model, titles[: chosen.known])
            library, _ = embedded(one.computes, model, abstracts[: chosen.known])
            exact = library if exact is None else exact
            cosines = (library * exact).sum(axis=1)
            print(
                f"{one.name:<15} cosine with the first: mean {cosines.mean():.4f}, least {cosines.min():.4f}; "
                f"{same_in_company(one.computes, model, titles[: chosen.texts])}; "
                f"of {chosen.known} papers by their titles {found(asked, library)}"
            )


if __name__ == "__main__":
    main()
