"""Literature visible to a single evaluation."""

import datetime as dt

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.literature.library import Library
from assayer.literature.own_paper import build_shingles, is_own_paper
from assayer.literature.work_versions import keep_one_paper_per_work
from assayer.models import Hit, Identifiers, Paper, PaperId, Window
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import NoFullTexts, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

CUTOFF = dt.date(2023, 6, 30)
ABSTRACT = (
    "We train a reader that checks each quoted sentence of a generated review against the abstract it cites, and "
    "find that a third of the quotes of a strong model do not stand in their source."
)
IDEA = parse_idea(
    f"# Checking the quotes of generated reviews\n\n{ABSTRACT} We will test this on 500 reviews.", source="x"
)


def make_paper(
    key: str, published: dt.date | None, title: str = "Citation checking with readers", abstract: str = ""
) -> Paper:
    abstract = abstract or f"Readers check the quotes of reviews against abstracts, study {key}."
    return Paper(id=PaperId(key), title=title, abstract=abstract, publication_date=published, source="corpus")


class LeakyCorpus(MemoryCorpus):
    """Corpus that ignores the cutoff."""

    async def search(self, queries: object, limit: int, window: Window) -> list[list[Hit]]:
        return [[Hit(paper=paper, similarity=0.5) for paper in self._papers.values()]]


async def test_papers_after_cutoff_or_undated_are_dropped_even_if_returned() -> None:
    papers = [
        make_paper("on-the-day", CUTOFF),
        make_paper("day-after", CUTOFF + dt.timedelta(days=1)),
        make_paper("undated", None),
    ]
    run = make_run(CUTOFF)
    library = Library(LeakyCorpus(papers, HashingEmbedder()), NoFullTexts(), run, IDEA)
    (hits,) = await library.search(["quotes"], 10)
    assert [hit.paper.id for hit in hits] == ["on-the-day"]
    (dropped,) = run.journal.list_dropped()
    assert (dropped.item_kind, dropped.count) == ("paper", 2)


async def test_undated_papers_are_kept_without_a_cutoff() -> None:
    library = Library(MemoryCorpus([make_paper("undated", None)], HashingEmbedder()), NoFullTexts(), make_run(), IDEA)
    (hits,) = await library.search(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["undated"]


async def test_own_paper_of_the_idea_is_recognised_by_title_or_abstract() -> None:
    papers = [
        make_paper("same-title", CUTOFF, title="Checking the Quotes of Generated Reviews."),
        make_paper("same-abstract", CUTOFF, abstract=ABSTRACT),
        make_paper("other", CUTOFF),
    ]
    library = Library(MemoryCorpus(papers, HashingEmbedder()), NoFullTexts(), make_run(CUTOFF), IDEA)
    (hits,) = await library.search(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["other"]
    assert set(library.own_papers) == {"same-title", "same-abstract"}


CHINESE = (
    "我们提出了一种新的方法来检查自动生成的评审意见中的引文，并且在三个公开的数据集上证明该方法可以发现大部分错误的引文，"
    "同时只需要很少的计算成本。我们还公开了全部的代码和数据。"
)


@pytest.mark.parametrize(
    ("abstract", "is_own"),
    [
        (CHINESE, True),
        (CHINESE[:60], True),
        (f"摘要：{CHINESE}关键词：引文；评审", True),
        ("我们提出了一种新的方法来预测蛋白质的结构，并且在三个公开的数据集上证明该方法可以达到很高的准确率。", False),
    ],
)
def test_a_copied_abstract_in_a_script_without_spaces_is_recognised(abstract: str, is_own: bool) -> None:
    idea = f"研究计划：本项目首先回顾相关工作。{CHINESE}随后我们将开展用户研究。"
    assert (
        is_own_paper("另一个题目", build_shingles(idea), make_paper("a", None, title="别的题目", abstract=abstract))
        == is_own
    )


@pytest.mark.parametrize(("title", "is_own"), [("检查自动生成的评审意见中的引文", True), ("机器学习", False)])
def test_title_without_spaces_identifies_own_paper_only_when_long_enough(title: str, is_own: bool) -> None:
    assert is_own_paper(title, set(), make_paper("a", None, title=title)) == is_own


async def test_a_paper_without_full_text_is_counted_once_with_its_reason() -> None:
    run = make_run()
    library = Library(MemoryCorpus([make_paper("a", CUTOFF)], HashingEmbedder()), NoFullTexts(), run, IDEA)
    for _ in range(3):
        assert await library.full_texts([make_paper("a", CUTOFF)]) == {}
    (dropped,) = run.journal.list_dropped()
    assert (dropped.item_kind, dropped.count, dropped.reason) == ("full text", 1, "this test has none")


async def test_search_after_cutoff_returns_only_later_work_and_not_own_paper() -> None:
    papers = [
        make_paper("on-the-day", CUTOFF),
        make_paper("day-after", CUTOFF + dt.timedelta(days=1)),
        make_paper("own", CUTOFF + dt.timedelta(days=90), title="Checking the Quotes of Generated Reviews"),
        make_paper("undated", None),
    ]
    library = Library(MemoryCorpus(papers, HashingEmbedder()), NoFullTexts(), make_run(CUTOFF), IDEA)
    (hits,) = await library.search_after_cutoff(["quotes of reviews"], 10)
    assert [hit.paper.id for hit in hits] == ["day-after"]
    assert library.own_papers.keys() == {"own"}


async def test_search_after_cutoff_is_empty_without_a_cutoff() -> None:
    library = Library(MemoryCorpus([make_paper("any", CUTOFF)], HashingEmbedder()), NoFullTexts(), make_run(), IDEA)
    assert await library.search_after_cutoff(["quotes of reviews"], 10) == [[]]


async def test_later_work_is_found_despite_many_earlier_papers() -> None:
    earlier_papers = [make_paper(f"earlier {number}", CUTOFF) for number in range(40)]
    later_paper = make_paper(
        "later", CUTOFF + dt.timedelta(days=1), title="Tides", abstract="Quotes, far from what was asked."
    )
    library = Library(
        MemoryCorpus([*earlier_papers, later_paper], HashingEmbedder()), NoFullTexts(), make_run(CUTOFF), IDEA
    )
    (hits,) = await library.search_after_cutoff(["quotes of reviews"], 30)
    assert [hit.paper.id for hit in hits] == ["later"]


def _record(key: str, title: str, year: int, venue: str = "", author: str = "Ann Müller", **names: str) -> Paper:
    return Paper(
        id=PaperId(key),
        title=title,
        abstract="Readers check quotes.",
        authors=(author, "Bo Chen"),
        publication_date=dt.date(year, 5, 1),
        venue=venue,
        source="corpus",
        identifiers=Identifiers(**names),
    )


WORK_TITLE = "Readers who check the quotes of reviews"
RECORDS = [
    _record("preprint", WORK_TITLE, 2019, arxiv="1901.00001"),
    _record("published", WORK_TITLE, 2020, "Journal of Reading", "Mueller, A.", doi="10.1000/r"),
    _record("short", f"{WORK_TITLE} (Extended Abstract)", 2020, "Proceedings of Reading"),
    _record("corrected", f"Correction to: {WORK_TITLE}", 2021, "Journal of Reading"),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_several_records_of_a_work_are_merged_and_listed(order: tuple[int, ...]) -> None:
    other_record = _record("other", "Readers who check the tables of reviews", 2020, "Journal of Reading")
    lead, second = keep_one_paper_per_work([*(RECORDS[place] for place in order), other_record])
    assert (lead.id, second.id) == ("published", "other")
    assert sorted(lead.other_records) == [
        "correction, Journal of Reading, 2021, corrected",
        "extended abstract, Proceedings of Reading, 2020, short",
        "preprint, 2019, preprint",
    ]
    assert second.other_records == ()


@pytest.mark.parametrize(
    "paper",
    [
        _record("a", WORK_TITLE, 2020, author="Cy Diaz"),
        _record("b", WORK_TITLE, 2012),
        _record("c", f"{WORK_TITLE} of books", 2020),
    ],
)
def test_different_author_year_or_title_is_a_different_work(paper: Paper) -> None:
    assert len(keep_one_paper_per_work([RECORDS[1], paper])) == 2


async def test_search_returns_a_work_once() -> None:
    library = Library(LeakyCorpus(RECORDS, HashingEmbedder()), NoFullTexts(), make_run(), IDEA)
    ((hit,),) = await library.search(["quotes"], 10)
    assert hit.paper.id == "published"
