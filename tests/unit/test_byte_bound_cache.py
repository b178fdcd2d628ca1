"""What is kept of texts is bounded by bytes, not by their number."""

import tracemalloc

from assayer.citing import quotes
from assayer.citing.quotes import MOST_CACHED_BYTES, find_quote
from assayer.text.byte_bound_cache import ByteBoundCache


def _shout(text: str) -> str:
    return text.upper()


def test_least_recently_asked_for_goes_first_and_the_bound_is_kept() -> None:
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return _shout(text)

    cache = ByteBoundCache(make, lambda _, value: len(value), most_bytes=10)
    for text in ("aaaa", "bbbb", "aaaa", "cccc"):
        assert cache(text) == _shout(text)
    assert (cache.bytes, len(cache)) == (8, 2)
    cache("aaaa")
    assert made == ["aaaa", "bbbb", "cccc"]
    cache("bbbb")
    assert made[-1] == "bbbb"


def test_what_is_larger_than_the_bound_is_made_and_not_kept() -> None:
    cache = ByteBoundCache(_shout, lambda _, value: len(value), most_bytes=3)
    assert cache("aaaa") == "AAAA"
    assert (cache.bytes, len(cache)) == (0, 0)


def test_quotes_of_hundreds_of_long_texts_hold_no_more_memory_than_the_bound_says() -> None:
    words = [f"{chr(97 + n % 26)}{n}word" for n in range(2_500)]
    kept = (quotes._letters, quotes._origins)
    for cache in kept:
        cache.cache_clear()
    tracemalloc.start()
    try:
        for number in range(120):
            text = " ".join([f"text {number} of many", *words])
            assert list(find_quote(" ".join(words[40:60]), text))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(cache.bytes <= MOST_CACHED_BYTES for cache in kept)
    assert held < 1.3 * sum(cache.bytes for cache in kept) + 4 * 2**20
    assert len(quotes._letters) > 20
