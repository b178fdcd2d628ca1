"""What answers ScholarEval's questions where there is no language model, of texts that are hard to cut."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from assayer.citing.evidence import Evidence
from assayer.methods.scholareval.fallbacks import contribution, soundness
from assayer.methods.scholareval.fallbacks.text_matching import first_words
from assayer.methods.scholareval.schemas import (
    ComparisonQuestion,
    DimensionsQuestion,
    LabelledText,
    MethodsQuestion,
    ReadingQuestion,
)
from assayer.models import PaperId
from assayer.ports import Vectors

UNSPACED = "我们训练一个小模型来判断每一条陈述是否得到证据支持并在八个领域上比较它的准确率" * 60
"""Two thousand characters and more that are one word to whoever splits at spaces."""
HEADED = (
    f"# {'方法' * 300}\n\n{UNSPACED}\n\n# Method\n\n{'x' * 4_000} we train a model and we compare it with "
    + "y" * 3_000
)


class Alike:
    """Embeds every text as the same unit vector."""

    name = "alike"
    dimensions = 1

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return np.ones((len(texts), 1), dtype=np.float32)


@pytest.mark.parametrize("idea", [UNSPACED, HEADED])
async def test_texts_without_spaces_get_answers_that_keep_to_the_schemas(idea: str) -> None:
    paper = Evidence(label="P1", paper_id=PaperId("p"), title="T", year=2020, text=idea)
    found = await soundness.methods(MethodsQuestion(idea=idea, limit=3), Alike())
    named = await contribution.dimensions(DimensionsQuestion(idea=idea, limit=3), Alike())
    assert found.methods
    assert named.dimensions
    methods = (LabelledText(label="M1", text=found.methods[0].description),)
    read = await soundness.reading(ReadingQuestion(idea=idea, parts=methods, evidence=(paper,)), Alike())
    assert all(note.quote in idea for reading in read.readings for note in reading.notes)
    dimensions = (LabelledText(label="D1", text=named.dimensions[0].statements[0]),)
    compared = await contribution.comparison(
        ComparisonQuestion(idea=idea, parts=dimensions, evidence=(paper,)), Alike()
    )
    assert len(compared.comparisons) == 1


def test_words_are_counted_and_what_is_left_out_is_marked() -> None:
    assert first_words("one two three", 2) == "one two …"
    assert first_words("one two", 2) == "one two"
    assert first_words("x" * 100, 2) == f"{'x' * 24} …"
