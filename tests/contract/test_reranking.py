"""Contract tests of Reranker, for a very small real cross-encoder."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError
from tests.contract.reranking_model import LONGEST, Kind, create_small_model
from workers.reranking import RerankerSettings
from workers.reranking.reranker import LocalReranker

QUERY = "Do bees pollinate orchards in spring?"
TEXTS = (
    "Bees pollinate orchards.",
    "Compilers fuse the loops of tensor programs.",
    "",
    "Ein Satz mit Umlauten: Bäume, 漢字.",
    "reviewers read ideas " * 200,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_small_model(tmp_path_factory.mktemp("reranker"))


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def reranker(folder: Path, request: pytest.FixtureRequest) -> Iterator[LocalReranker]:
    opened_reranker = LocalReranker(RerankerSettings(model=str(folder), precision=request.param))
    yield opened_reranker
    opened_reranker.close()


async def test_each_text_gets_a_score_from_0_to_1(reranker: LocalReranker) -> None:
    scores = await reranker.score(QUERY, TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) == len(TEXTS)
    assert await reranker.score(QUERY, []) == []


@pytest.mark.parametrize("kind", ["xlm-roberta", "bert"])
async def test_bfloat16_model_still_gives_distinct_scores(tmp_path: Path, kind: Kind) -> None:
    model = str(create_small_model(tmp_path, kind=kind))
    with closing(LocalReranker(RerankerSettings(model=model, precision="bfloat16", device="cpu"))) as coarse:
        scores = await coarse.score(QUERY, [f"reviewers read ideas {number}" for number in range(200)])
    assert len(set(scores)) == 200


async def test_scores_match_sentence_transformers(folder: Path) -> None:
    from sentence_transformers import CrossEncoder

    exact = LocalReranker(RerankerSettings(model=str(folder), precision="float32", device="cpu"))
    scores = await exact.score(QUERY, TEXTS)
    exact.close()
    library_model = CrossEncoder(str(folder), device="cpu", max_length=LONGEST)
    assert scores == pytest.approx(library_model.predict([(QUERY, text) for text in TEXTS]).tolist(), abs=1e-5)


async def test_score_is_independent_of_other_texts_in_the_batch(reranker: LocalReranker) -> None:
    texts = [f"{TEXTS[number % 2]} {'and in ' * (number % 50)}{number}" for number in range(80)]
    together = list(await reranker.score(QUERY, texts))
    single_scores = [score for text in texts[::9] for score in await reranker.score(QUERY, [text])]
    turned = list(await reranker.score(QUERY, texts[::-1]))[::-1]
    assert together[::9] == single_scores
    assert together == turned


async def test_concurrent_queries_each_get_their_own_scores(reranker: LocalReranker) -> None:
    queries = [f"question {number} of reviewers" for number in range(20)]
    answers = await asyncio.gather(*(reranker.score(query, TEXTS[:2]) for query in queries))
    assert [list(answer) for answer in answers] == [list(await reranker.score(query, TEXTS[:2])) for query in queries]


async def test_cancelled_caller_does_not_block_others(folder: Path) -> None:
    narrow_reranker = LocalReranker(RerankerSettings(model=str(folder)))
    abandoned = asyncio.ensure_future(narrow_reranker.score(QUERY, TEXTS))
    stays = asyncio.ensure_future(narrow_reranker.score(QUERY, TEXTS[:1]))
    await asyncio.sleep(0)
    abandoned.cancel()
    assert len(await stays) == 1
    narrow_reranker.close()


async def test_unusable_reranking_model_is_rejected(tmp_path: Path) -> None:
    two = LocalReranker(RerankerSettings(model=str(create_small_model(tmp_path / "two", outputs=2))))
    with pytest.raises(ConfigurationError, match="it has 2 outputs instead of one"):
        await two.score(QUERY, TEXTS)
    two.close()
    with pytest.raises(ConfigurationError, match="does not exist"):
        LocalReranker(RerankerSettings(model=str(tmp_path / "nowhere")))
    empty = LocalReranker(RerankerSettings(model=str(tmp_path)))
    with pytest.raises(ConfigurationError, match="could not be loaded"):
        await empty.score(QUERY, TEXTS)
    empty.close()


def test_model_name_includes_settings_that_change_scores() -> None:
    usual, longer = RerankerSettings(model="some/model"), RerankerSettings(model="some/model", max_tokens=1024)
    assert LocalReranker(usual).name == "some/model"
    assert LocalReranker(longer).name == "some/model tokens=1024"
    with pytest.raises(ConfigurationError, match="ASSAYER_RERANKER__MODEL"):
        LocalReranker(RerankerSettings())
