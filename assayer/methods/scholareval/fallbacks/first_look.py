"""A first look without an LLM: by cosine, since nobody reads a title."""

from assayer.methods.scholareval.fallbacks.text_matching import READ_FROM_COSINE
from assayer.methods.scholareval.schemas import FirstLook, FirstLookQuestion, Purpose
from assayer.ports import Embedder

_LEAST: dict[Purpose, float] = {"soundness": READ_FROM_COSINE["method"], "contribution": READ_FROM_COSINE["idea"]}


async def first_look(question: FirstLookQuestion, embedder: Embedder) -> FirstLook:
    """The nearest first, down to a least cosine."""
    near = [one for one in question.shown if (one.similarity or 0.0) >= _LEAST[question.purpose]]
    near.sort(key=lambda one: -(one.similarity or 0.0))
    return FirstLook(labels=[one.label for one in near[: question.most]])
