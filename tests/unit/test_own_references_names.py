"""Entries and records of one work are recognised as such, however names and titles are spelt."""

import pytest

from assayer.models import CitedWork, Paper, retraction_in_title, title_without_retraction
from assayer.own_references.matching import find_best_match
from assayer.own_references.names import is_group, names_may_match
from assayer.own_references.titles import compare_titles
from assayer.reference_lists.entry_parser import parse_references
from index.records.paper_record import PaperRecord
from tests.unit.own_references_fixture import check_references, list_outcomes, record
from tests.unit.processor_time import fill_text, limited_processor_time
from workers.literature_apis.record_fields import clean_title

__all__ = ["limited_processor_time"]


@pytest.mark.parametrize(
    ("printed", "recorded"),
    [
        ("Odegard M", "Marit Ødegård"), ("Los J", "Jan Łoś"), ("Lukic W", "Wanja Łukić"), ("Dordic M", "Mila Đorđić"),
        ("Aegir K", "Karl Ægir"), ("Weiss P", "Peter Weiß"), ("Isik A", "Ayşe Işık"), ("Thorsson E", "Einar Þórsson"),
        ("Gudmundsson S", "Sara Guðmundsson"), ("Koenig K", "Karl König"), ("Hoest A", "Anna Høst"),
        ("Aas T", "Tor Ås"), ("van der Berg K", "Karl Berg"), ("de Souza P", "Paulo Souza"),
        ("O’Hara K", "Kate O'Hara"), ("Brueck A", "Ann Brück"),
        ("ORCA Collaboration", "ORCA Collab."), ("Organization WH", "World Health Organization"),
        ("Consortium, T. H. G", "The Heron Genome Consortium"), ("WHO", "World Health Organization"),
        ("The ORCA Team", "ORCA Team"),
        ("Le Guin U", "Ursula LeGuin"), ("Lyu Y", "Lü, Yan"), ("Gemini Team", "Gemini Team, Google"),
        ("U.S. Department of Energy", "US Department of Energy"), ("R Core Team", "R Development Core Team"),
    ],
)  # fmt: skip
def test_spelling_variants_of_a_name_match(printed: str, recorded: str) -> None:
    assert names_may_match(printed, recorded)
    assert names_may_match(recorded, printed)


@pytest.mark.parametrize(
    ("printed", "recorded"),
    [
        ("Li X", "Ann Oliver"),
        ("Host A", "Bo Kost"),
        ("WHO", "World Bank"),
        ("Lee A", "Bo Leigh"),
        ("Wang L", "S. Hwang"),
        ("ORCA Collaboration", "NOVEX Collaboration"),
    ],
)
def test_different_names_do_not_match(printed: str, recorded: str) -> None:
    assert not names_may_match(printed, recorded)


@pytest.mark.parametrize(
    ("printed", "recorded_name"),
    [
        ("Петров, И. И.", "Ivan Petrov"),
        ("Petrov, I.", "Иван Петров"),
        ("Γεωργίου, Ά.", "Anna Georgiou"),
        ("Georgiou, A.", "Άννα Γεωργίου"),
    ],
)
@pytest.mark.parametrize(
    ("title", "recorded"),
    [
        ("Slow trams", "Slow trams"),
        ("Slow trams in the northern towns", "Slow trams in the nothern towns"),
        ("Slow trams in the northern towns: a survey", "Slow trams in the northern towns"),
        ("Slow trams in the northern towns", "Slow trams in the northern towns: a survey"),
    ],
)
def test_names_in_another_script_are_not_a_difference(
    printed: str, recorded_name: str, title: str, recorded: str
) -> None:
    (work,) = parse_references(f"{printed} (2019). {title}. Rails, 3, 1-9.")
    match = find_best_match(work, [record("work", recorded, recorded_name, 2019)])
    assert match is not None
    assert match.differences == ()


def test_another_year_and_script_and_a_longer_title_are_another_work() -> None:
    (work,) = parse_references("Петров, И. (1999). Slow trams in the northern towns: a survey. Rails, 3, 1-9.")
    assert find_best_match(work, [record("work", "Slow trams in the northern towns", "Ivan Petrov", 2019)]) is None


TITLE = "Sorting letters in the evening and its cost"
RETRACTION_TITLES = [
    f"RETRACTED: {TITLE}", f"RETRACTED ARTICLE: {TITLE}", f"Retraction: {TITLE}", f"[Retracted] {TITLE}",
    f"WITHDRAWN: {TITLE}", f"{TITLE} [RETRACTED]", f"Retraction Note: {TITLE}", f"Retracted Article — {TITLE}",
    f"Notice of Retraction {TITLE}", f"ARTICLE WITHDRAWN: {TITLE}", f"撤稿：{TITLE}", f"*RETRACTED* {TITLE}",
    f"{TITLE} (Retracted article. See vol. 12, pg. 3, 2015)", f"{TITLE} (Retraction of vol 12, pg 3, 2011)",
    f"Retraction notice to “{TITLE}” [J. Lett. 12 (2011) 1–9]", f"Retraction for Lee et al., {TITLE}",
    f"Temporary removal: {TITLE}", f"Artículo retractado: {TITLE}",
    f"WITHDRAWN – Administrative Duplicate Publication: {TITLE}", f"RETRACTED ARTICLE {TITLE}",
]  # fmt: skip


@pytest.mark.parametrize("title", RETRACTION_TITLES)
def test_retraction_notice_in_title_marks_record_and_plain_title_matches(title: str) -> None:
    known_paper = record("a", title, "Ann Lee", 2015)
    assert known_paper.retraction is not None
    match = find_best_match(
        CitedWork(title=TITLE, authors=("Lee A",), year=2015, raw=f"Lee A. {TITLE}. 2015."), [known_paper]
    )
    assert match is not None
    assert match.differences == ()
    assert title_without_retraction(title) == TITLE


@pytest.mark.parametrize("title", ["Retraction of the aortic valve", "Withdrawn consent", "Retracted tongues"])
def test_title_about_retraction_does_not_mark_the_record(title: str) -> None:
    assert retraction_in_title(title) is None


def test_republished_article_is_found_and_not_retracted() -> None:
    known_paper = record("a", f"Retracted and republished: {TITLE}", "Ann Lee", 2015)
    assert known_paper.retraction is None
    assert title_without_retraction(known_paper.title) == TITLE


@pytest.mark.parametrize("author", ["McPherson", "LeCun", "DeJoseph", "VanTieghem"])
def test_family_name_with_a_capital_inside_is_not_an_organisation(author: str) -> None:
    assert not is_group(author)
    assert is_group("OpenAI")


def test_corpus_record_with_retraction_in_title_is_retracted() -> None:
    row = PaperRecord.model_validate({"id": "a", "title": RETRACTION_TITLES[0], "abstract": "We sort."})
    assert row.retracted


async def test_entry_of_a_retracted_record_is_reported_as_retracted() -> None:
    reference_list = f"[1] A. Lee. {TITLE}. Post, 2015."
    text = f"{'We sort letters by hand in the evening and count mistakes. ' * 4}\n\n## References\n\n{reference_list}\n"
    references = await check_references(text, local_papers=[record("a", RETRACTION_TITLES[0], "Ann Lee", 2015)])
    assert list_outcomes(references) == ["retracted"]


@pytest.mark.parametrize(
    ("printed", "recorded"),
    [
        ("Risk & reward of stamps in small towns", "Risk &amp; reward of stamps in small towns"),
        ("Risk and reward of stamps in small towns", "Risk & reward of stamps in small towns"),
        ("β-carotene in the glue of stamps", "Beta-carotene in the glue of stamps"),
        ("Über das Sortieren von Briefen", "Ueber das Sortieren von Briefen"),
        ("信件分拣的可行性研究", "信件分拣的可行性研究"),
        ("A priori bounds on H2O in glue", "A <i>priori</i> bounds on H<sub>2</sub>O in glue"),
    ],
)
def test_spelling_variants_of_a_title_match(printed: str, recorded: str) -> None:
    work = CitedWork(title=printed, raw=f"Lee A. {printed}. Post. 2015;1:2.")
    assert compare_titles(work, recorded) == "same"


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("A <i>priori</i> bounds on H<sub>2</sub>O in glue", "A priori bounds on H2O in glue"),
        ("Risk &amp; reward", "Risk & reward"),
        ('Waves in<mml:math xmlns:mml="x"><mml:mi>N</mml:mi></mml:math>-coupled glue', "Waves in N-coupled glue"),
    ],
)
def test_markup_is_removed_from_titles_of_all_sources(raw: str, title: str) -> None:
    assert clean_title(raw) == title
    assert PaperRecord.model_validate({"id": "a", "title": raw, "abstract": "We sort."}).title == title


def find_differences(authors: tuple[str, ...], recorded_authors: tuple[str, ...]) -> tuple[str, ...]:
    paper: Paper = record("a", TITLE, "x", 2015, authors=recorded_authors)
    match = find_best_match(CitedWork(title=TITLE, authors=authors, year=2015, raw=TITLE), [paper])
    assert match is not None
    return match.differences


@pytest.mark.parametrize(
    ("authors", "recorded_authors"),
    [
        (("Lee, A.", "Chen, B."), ("ORCA Collaboration", "Ann Lee", "Bo Chen")),
        (("ORCA Collaboration",), ("Ann Lee", "Bo Chen")),
        ((":", "Lee, A."), ("Ann Lee",)),
        (("李世明",), ("Shiming Li",)),
        (("Lindqvist, Ann", "Bo Okoro"), ("Ann Lindqvist", "Bo Okoro")),
    ],
)
def test_collaborations_and_names_in_other_scripts_are_not_differences(
    authors: tuple[str, ...], recorded_authors: tuple[str, ...]
) -> None:
    assert find_differences(authors, recorded_authors) == ()


def test_invented_first_author_before_inverted_names_is_a_difference() -> None:
    reference_list = f'Nobody, Zed, and Ann Lee. 2015. "{TITLE}." Post 3.'
    (work,) = parse_references(reference_list)
    match = find_best_match(work, [record("a", TITLE, "Ann Lee", 2015)])
    assert match is not None
    assert match.differences[0] == "The entry names Nobody, Zed first, the record Ann Lee."


async def test_reference_with_title_without_spaces_is_found() -> None:
    reference_list = "参考文献\n[1] 李世明. 信件分拣的可行性研究[J]. 邮政, 2021."
    text = f"{'We sort letters by hand in the evening and count mistakes. ' * 4}\n\n{reference_list}"
    references = await check_references(text, local_papers=[record("a", "信件分拣的可行性研究", "李世明", 2021)])
    assert list_outcomes(references) == ["found"]


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ("Post Office (2019) Opening hours. Available at: https://example.org/h (Accessed: 3 May 2020).", "absent"),
        ("A. Lee. Opening hours of the harbour in winter. Post, 2019. https://doi.org/10.1000/none", "not_found"),
    ],
)  # fmt: skip
async def test_web_page_that_no_source_holds_is_not_counted_as_missing(entry: str, outcome: str) -> None:
    text = f"{'We sort letters by hand in the evening and count mistakes. ' * 4}\n\n## References\n\n[1] {entry}\n"
    assert list_outcomes(
        await check_references(text, local_papers=[record("a", "Another title altogether", "Bo Chen", 2015)])
    ) == [outcome]


def test_long_names_are_compared_in_linear_time() -> None:
    assert not names_may_match(fill_text("ab", characters=600_000), fill_text("ba", end="z", characters=600_000))
