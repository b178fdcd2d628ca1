"""What one evaluation may see of the literature."""

import datetime as dt
from dataclasses import replace

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.literature.library import Library
from assayer.literature.own_paper import is_own_paper, shingles
from assayer.models import Hit, Paper, PaperId, Window
from index.memory_corpus import MemoryCorpus
from tests.unit.twins import NoFullTexts, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

CUTOFF = dt.date(2023, 6, 30)
ABSTRACT = (
    "We train a reader that checks each quoted sentence of a generated review against the abstract it cites, and "
    "find that a third of the quotes of a strong model do not stand in their source."
)
IDEA = parse_idea(
    f"# Checking the quotes of generated reviews\n\n{ABSTRACT} We will test this on 500 reviews.", source="x"
)


def _paper(
    key: str, published: dt.date | None, title: str = "Citation checking with readers", abstract: str = ""
) -> Paper:
    abstract = abstract or f"Readers check the quotes of reviews against abstracts, study {key}."
    return Paper(id=PaperId(key), title=title, abstract=abstract, publication_date=published, source="corpus")


class _Ticking:
    """A second passes between any two looks."""

    def __init__(self) -> None:
        self._looks = 0

    def now(self) -> dt.datetime:
        self._looks += 1
        return dt.datetime(2026, 1, 2, tzinfo=dt.UTC) + dt.timedelta(seconds=self._looks)

    def monotonic(self) -> float:
        return 0.0


class LeakyCorpus(MemoryCorpus):
    """A source that forgets about the cutoff."""

    async def search(self, queries: object, limit: int, window: Window) -> list[list[Hit]]:
        return [[Hit(paper=paper, similarity=0.5) for paper in self._papers.values()]]


async def test_papers_after_the_cutoff_and_undated_ones_are_kept_out_even_if_the_source_returns_them() -> None:
    papers = [
        _paper("on-the-day", CUTOFF),
        _paper("day-after", CUTOFF + dt.timedelta(days=1)),
        _paper("undated", None),
    ]
    run = a_run(CUTOFF)
    library = Library(LeakyCorpus(papers, HashingEmbedder()), NoFullTexts(), run, IDEA)
    (hits,) = await library.search(["quotes"], 10)
    assert [hit.paper.id for hit in hits] == ["on-the-day"]
    (dropped,) = run.journal.dropped()
    assert (dropped.what, dropped.count) == ("paper", 2)


async def test_searches_and_full_texts_are_on_record_for_the_timeline() -> None:
    run = replace(a_run(), clock=_Ticking())
    library = Library(MemoryCorpus([_paper("a", None)], HashingEmbedder()), NoFullTexts(), run, IDEA)
    await library.search(["quotes"], 10)
    await library.full_texts([_paper("a", None)])
    assert [(one.what, (one.end - one.start).total_seconds()) for one in run.activities.spans()] == [
        ("searching", 1.0),
        ("full_texts", 1.0),
    ]


async def test_without_a_cutoff_undated_papers_count() -> None:
    library = Library(MemoryCorpus([_paper("undated", None)], HashingEmbedder()), NoFullTexts(), a_run(), IDEA)
    (hits,) = await library.search(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["undated"]


async def test_the_ideas_own_paper_is_recognised_by_title_or_by_copied_abstract() -> None:
    papers = [
        _paper("same-title", CUTOFF, title="Checking the Quotes of Generated Reviews."),
        _paper("same-abstract", CUTOFF, abstract=ABSTRACT),
        _paper("other", CUTOFF),
    ]
    library = Library(MemoryCorpus(papers, HashingEmbedder()), NoFullTexts(), a_run(CUTOFF), IDEA)
    (hits,) = await library.search(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["other"]
    assert set(library.own_papers) == {"same-title", "same-abstract"}


CHINESE = (
    "我们提出了一种新的方法来检查自动生成的评审意见中的引文，并且在三个公开的数据集上证明该方法可以发现大部分错误的引文，"
    "同时只需要很少的计算成本。我们还公开了全部的代码和数据。"
)


@pytest.mark.parametrize(
    ("abstract", "own"),
    [
        (CHINESE, True),
        (CHINESE[:60], True),
        (f"摘要：{CHINESE}关键词：引文；评审", True),
        ("我们提出了一种新的方法来预测蛋白质的结构，并且在三个公开的数据集上证明该方法可以达到很高的准确率。", False),
    ],
)
def test_a_copied_abstract_in_a_script_without_spaces_is_recognised(abstract: str, own: bool) -> None:
    idea = f"研究计划：本项目首先回顾相关工作。{CHINESE}随后我们将开展用户研究。"
    assert is_own_paper("另一个题目", shingles(idea), _paper("a", None, title="别的题目", abstract=abstract)) == own


@pytest.mark.parametrize(("title", "own"), [("检查自动生成的评审意见中的引文", True), ("机器学习", False)])
def test_a_short_title_without_spaces_is_nobodys(title: str, own: bool) -> None:
    assert is_own_paper(title, set(), _paper("a", None, title=title)) == own


async def test_a_paper_without_full_text_is_counted_once_with_its_reason() -> None:
    run = a_run()
    library = Library(MemoryCorpus([_paper("a", CUTOFF)], HashingEmbedder()), NoFullTexts(), run, IDEA)
    for _ in range(3):
        assert await library.full_texts([_paper("a", CUTOFF)]) == {}
    (dropped,) = run.journal.dropped()
    assert (dropped.what, dropped.count, dropped.reason) == ("full text", 1, "this test has none")


async def test_a_search_of_what_came_later_finds_only_that_and_never_the_ideas_own_paper() -> None:
    papers = [
        _paper("on-the-day", CUTOFF),
        _paper("day-after", CUTOFF + dt.timedelta(days=1)),
        _paper("own", CUTOFF + dt.timedelta(days=90), title="Checking the Quotes of Generated Reviews"),
        _paper("undated", None),
    ]
    library = Library(MemoryCorpus(papers, HashingEmbedder()), NoFullTexts(), a_run(CUTOFF), IDEA)
    (hits,) = await library.search_after_cutoff(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["day-after"]
    assert library.own_papers.keys() == {"own"}


async def test_without_a_cutoff_nothing_came_later() -> None:
    library = Library(MemoryCorpus([_paper("any", CUTOFF)], HashingEmbedder()), NoFullTexts(), a_run(), IDEA)
    assert await library.search_after_cutoff(["quotes of reviews"], 10) == [[]]


async def test_later_work_is_asked_for_with_its_own_window_however_much_came_before() -> None:
    earlier = [_paper(f"earlier {number}", CUTOFF) for number in range(40)]
    later = _paper("later", CUTOFF + dt.timedelta(days=1), title="Tides", abstract="Quotes, far from what was asked.")
    library = Library(MemoryCorpus([*earlier, later], HashingEmbedder()), NoFullTexts(), a_run(CUTOFF), IDEA)
    (hits,) = await library.search_after_cutoff(["quotes of reviews"], 30)
    assert [hit.paper.id for hit in hits] == ["later"]
