import pytest

from workers.embedding.query_memo import QueryMemo


class Counting:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def compute(self, queries: list[str]) -> list[str]:
        self.asked.append(queries)
        return [query.upper() for query in queries]


async def test_what_is_known_is_not_computed_again_and_equal_queries_once() -> None:
    memo, model = QueryMemo[str](8), Counting()
    assert await memo.rows(["a", "b", "a"], model.compute) == ["A", "B", "A"]
    assert await memo.rows(["b", "c"], model.compute) == ["B", "C"]
    assert model.asked == [["a", "b"], ["c"]]


async def test_the_least_recently_used_goes_first() -> None:
    memo, model = QueryMemo[str](2), Counting()
    for queries in (["a"], ["b"], ["a"], ["c"], ["a"], ["b"]):
        await memo.rows(queries, model.compute)
    assert model.asked == [["a"], ["b"], ["c"], ["b"]]


@pytest.mark.parametrize("size", [0, 1])
async def test_more_queries_than_are_kept_are_answered_all_the_same(size: int) -> None:
    assert await QueryMemo[str](size).rows(["a", "b", "c"], Counting().compute) == ["A", "B", "C"]
