import pytest

from workers.embedding.query_memo import QueryMemo


class RecordingModel:
    def __init__(self) -> None:
        self.query_batches: list[list[str]] = []

    async def compute(self, queries: list[str]) -> list[str]:
        self.query_batches.append(queries)
        return [query.upper() for query in queries]


async def test_cached_queries_are_not_recomputed_and_duplicates_are_computed_once() -> None:
    memo, model = QueryMemo[str](8), RecordingModel()
    assert await memo.get_or_compute(["a", "b", "a"], model.compute) == ["A", "B", "A"]
    assert await memo.get_or_compute(["b", "c"], model.compute) == ["B", "C"]
    assert model.query_batches == [["a", "b"], ["c"]]


async def test_least_recently_used_query_is_evicted_first() -> None:
    memo, model = QueryMemo[str](2), RecordingModel()
    for queries in (["a"], ["b"], ["a"], ["c"], ["a"], ["b"]):
        await memo.get_or_compute(queries, model.compute)
    assert model.query_batches == [["a"], ["b"], ["c"], ["b"]]


@pytest.mark.parametrize("size", [0, 1])
async def test_more_queries_than_cache_size_are_all_answered(size: int) -> None:
    assert await QueryMemo[str](size).get_or_compute(["a", "b", "c"], RecordingModel().compute) == ["A", "B", "C"]
