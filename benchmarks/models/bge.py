"""`python -m benchmarks.models.bge`: what a model of bge-m3's shape costs on this machine's processors.

The weights are random numbers, as the real ones lie on a hub: time and memory depend on the shape alone, quality cannot
be told. 24 layers of 1,024, 250,002 tokens: 568 million parameters, made on the spot and removed afterwards.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

from benchmarks.index.machine import machine, resident_mb
from workers.embedding.lexical_embedder import BgeM3Embedder
from workers.embedding.settings import EmbedderSettings
from workers.torch_runtime import Precision

_VOCABULARY = 250_002
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


def write_model(folder: Path, layers: int, width: int) -> None:
    """As a downloaded bge-m3 lies there, with a tokenizer for which each word is a token."""
    words = {word: number for number, word in enumerate((*_SPECIAL, *(f"w{n}" for n in range(_VOCABULARY - 4))))}
    made = Tokenizer(WordLevel(words, unk_token="<unk>"))  # noqa: S106
    made.pre_tokenizer = WhitespaceSplit()
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokens = {f"{name}_token": token for name, token in zip(("bos", "pad", "eos", "unk"), _SPECIAL, strict=True)}
    fast: Any = PreTrainedTokenizerFast
    fast(
        tokenizer_object=made,
        model_max_length=8192,
        cls_token="<s>",  # noqa: S106
        model_input_names=["input_ids", "attention_mask"],
        **tokens,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=_VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=8194,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    XLMRobertaModel(config).save_pretrained(folder)
    for name, size in (("colbert", width), ("sparse", 1)):
        torch.save(torch.nn.Linear(width, size).state_dict(), folder / f"{name}_linear.pt")


def texts(count: int, tokens: int) -> list[str]:
    """Of so many tokens, where each text begins and ends included."""
    drawn = np.random.default_rng(1).integers(0, _VOCABULARY - 4, (count, tokens - 2))
    return [" ".join(f"w{number}" for number in row) for row in drawn]


async def measure(folder: Path, precision: Precision, threads: int, passages: int) -> dict[str, float]:
    settings = EmbedderSettings(
        model=str(folder), library="FlagEmbedding", device="cpu", precision=precision, threads=threads, memo=0
    )
    with closing(BgeM3Embedder(settings)) as embedder:
        started = time.perf_counter()
        await embedder.embed(["w1"], "query")
        loaded = time.perf_counter() - started
        started, cpu = time.perf_counter(), time.process_time()
        together = await embedder.embed_with_weights(texts(passages, 256), "passage")
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        waited = []
        for query in texts(3, 24):
            started = time.perf_counter()
            await embedder.embed_with_weights([query], "query")
            waited.append(time.perf_counter() - started)
        alone = await embedder.embed_with_weights(texts(passages, 256)[-1:], "passage")
    same = (alone.vectors[0] == together.vectors[-1]).all() and all(
        np.array_equal(one, other) for one, other in zip(alone.lexical[0], together.lexical[-1], strict=True)
    )
    return {
        "same_bits_alone": bool(same),
        "load_seconds": round(loaded, 1),
        "passage_ms": round(1000 * wall / passages),
        "passage_cpu_ms": round(1000 * cpu / passages),
        "lone_query_ms": round(1000 * statistics.median(waited)),
        "resident_mb": round(resident_mb()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--passages", type=int, default=16, help="of 256 tokens")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16")
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), chosen.layers, chosen.width)
        figures = asyncio.run(measure(Path(folder), chosen.precision, chosen.threads, chosen.passages))
    print(json.dumps({"precision": chosen.precision, "threads": chosen.threads, **figures}))


if __name__ == "__main__":
    main()
