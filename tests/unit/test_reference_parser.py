"""Lists of references as plain text are taken apart as far as they can be."""

import pytest

from assayer.models import CitedWork
from assayer.reference_lists.entry_parser import parse_references

MEDICAL = """1. Quandt F, Hummel FC. The influence of stimulation on hand recovery: a review. Exp Stroke Med.
2014;6:9. doi:10.1186/2040-7378-6-9.

2. Van der Linden ML, Hooper JE, & Gallego JÁ. Habitual therapy improves gait. PLoS One. 2013;10(1):36. 3. Dobkin BH.
Rehabilitation after stroke. N Engl J Med. 2005;352(16):1677–84."""

ENGINEERING = """[1] A. Vaswani, N. Shazeer, and N. Parmar, “Attention is all you need,” in NeurIPS, 2017, pp. 1–11.
[2] D. Kingma and J. Ba, “Adam: a method,” arXiv:1412.6980, 2014. [3] K. He and J. Sun. Deep residual learning for
image recognition. In CVPR, 2016."""

LINGUISTICS = """Ashish Vaswani, Noam Shazeer, and Niki Parmar. 2017. Attention is all you need. In Advances in Neural
Information Processing Systems, pages 5998–6008.

Sepp Hochreiter and Jürgen Schmidhuber. 1997. Long short-term memory. Neural Computation, 9(8):1735–1780. Jacob Devlin,
Ming-Wei Chang, and Kristina Toutanova. 2019. BERT: Deep bidirectional transformers. arXiv preprint arXiv:1810.04805.

Kingma, D. P., & Ba, J. (2015). Adam: A method for stochastic optimization. ICLR."""


def list_fields(work: CitedWork) -> tuple[str, int | None, tuple[str, ...]]:
    return work.title, work.year, work.authors


@pytest.mark.parametrize(
    ("text", "expected_works"),
    [
        pytest.param(
            MEDICAL,
            [
                ("The influence of stimulation on hand recovery: a review", 2014, ("Quandt F", "Hummel FC")),
                ("Habitual therapy improves gait", 2013, ("Van der Linden ML", "Hooper JE", "Gallego JÁ")),
                ("Rehabilitation after stroke", 2005, ("Dobkin BH",)),
            ],
            id="medical",
        ),
        pytest.param(
            ENGINEERING,
            [
                ("Attention is all you need", 2017, ("A. Vaswani", "N. Shazeer", "N. Parmar")),
                ("Adam: a method", 2014, ("D. Kingma", "J. Ba")),
                ("Deep residual learning for image recognition", 2016, ("K. He", "J. Sun")),
            ],
            id="engineering",
        ),
        pytest.param(
            LINGUISTICS,
            [
                ("Attention is all you need", 2017, ("Ashish Vaswani", "Noam Shazeer", "Niki Parmar")),
                ("Long short-term memory", 1997, ("Sepp Hochreiter", "Jürgen Schmidhuber")),
                (
                    "BERT: Deep bidirectional transformers",
                    2019,
                    ("Jacob Devlin", "Ming-Wei Chang", "Kristina Toutanova"),
                ),
                ("Adam: A method for stochastic optimization", 2015, ("Kingma, D. P", "Ba, J")),
            ],
            id="linguistics",
        ),
    ],
)
def test_entries_are_parsed_into_title_year_and_authors(
    text: str, expected_works: list[tuple[str, int, tuple[str, ...]]]
) -> None:
    assert [list_fields(work) for work in parse_references(text)] == expected_works


@pytest.mark.parametrize(
    ("entry", "title", "authors"),
    [
        (
            "Ann J. Lee, Bo Chen and Cy Diaz. A long title. ICML, 2016.",
            "A long title",
            ("Ann J. Lee", "Bo Chen", "Cy Diaz"),
        ),
        ("Lee, A. (2014). Learning and nonlinear ICA. NeurIPS.", "Learning and nonlinear ICA", ("Lee, A",)),
        ("A. Lee et al. Attention in networks. NeurIPS 2017.", "Attention in networks", ("A. Lee",)),
        ("Attention in networks (Lee et al., 2017)", "Attention in networks", ("Lee",)),
        ("[Attention in networks](https://x.org/1), Lee, 2017", "Attention in networks", ()),
        ("**Lee et al. (2017)**. *Attention in networks*. NeurIPS.", "Attention in networks", ("Lee",)),
    ],
)
@pytest.mark.parametrize("mark", ["- ", "1. ", "[1] ", "[Lee17] ", "[^1]: ", "(1) ", ""])
def test_markdown_entry_is_parsed_into_title_and_authors(
    entry: str, title: str, authors: tuple[str, ...], mark: str
) -> None:
    (work,) = parse_references(mark + entry)
    assert (work.title, work.authors) == (title, authors)


def test_indented_lines_belong_to_the_entry_above() -> None:
    text = "Lee, A. (2019). Replay of\n    text. ACL.\nDiaz, C. (2021). Curves of models. A journal\n    of 2022."
    assert [work.title for work in parse_references(text)] == ["Replay of text", "Curves of models"]


def test_identifiers_are_found_in_their_normal_form() -> None:
    medical, engineering = parse_references(MEDICAL), parse_references(ENGINEERING)
    assert medical[0].doi == "10.1186/2040-7378-6-9"
    assert engineering[1].arxiv == "1412.6980"


def test_entry_in_unknown_format_keeps_raw_text_without_fields() -> None:
    text = "\n\n".join(f"[{n}] Minutes of meeting {n} 1998 in box 4" for n in (1, 2, 3))
    assert [(work.raw, work.title, work.authors) for work in parse_references(text)] == [
        (f"Minutes of meeting {n} 1998 in box 4", "", ()) for n in (1, 2, 3)
    ]


def test_prose_yields_no_references() -> None:
    assert parse_references("Nothing here was cited, and nobody minded.") == ()


@pytest.mark.parametrize(
    ("entry", "title", "year", "arxiv"),
    [
        (
            "Smith, J. (2020) 'A study of corals in warm water', Marine Journal, 3(2), pp. 4-5.",
            "A study of corals in warm water", 2020, "",
        ),
        (
            "Smith, J. and Roe, K. (2020) ‘The coral’s growth in a reef’s shade’, Marine Journal, 3(2), pp. 4–5.",
            "The coral’s growth in a reef’s shade", 2020, "",
        ),
        (
            "O'Brien, K. and D'Souza, M. (2019) 'Teachers' views of homework', Education, 1, pp. 1-9.",
            "Teachers' views of homework", 2019, "",
        ),
        (
            "O'Brien, K. (2019). Students' and teachers' views of homework. Education, 1, 1-9.",
            "Students' and teachers' views of homework", 2019, "",
        ),
        (
            "Brown, T. B., et al. Language Models are Few-Shot Learners. arXiv:2005.14165 (2020)",
            "Language Models are Few-Shot Learners", 2020, "2005.14165",
        ),
        (
            "Brown, T. (2020). Language Models are Few-Shot Learners. arXiv preprint arXiv:2005.14165.",
            "Language Models are Few-Shot Learners", 2020, "2005.14165",
        ),
        (
            "T. Brown. Language Models are Few-Shot Learners arXiv:2005.14165 (2020)",
            "Language Models are Few-Shot Learners", 2020, "2005.14165",
        ),
    ],
)  # fmt: skip
def test_harvard_quotes_and_arxiv_years_are_excluded_from_titles(entry: str, title: str, year: int, arxiv: str) -> None:
    (work,) = parse_references(entry)
    assert (work.title, work.year, work.arxiv) == (title, year, arxiv)
    assert work.authors


@pytest.mark.parametrize(
    ("entry", "authors", "title"),
    [
        pytest.param(
            "Moss, A., & Bell, C. (2021). Fitting post models with the package “lettero.” Post Studies, 1(2), 45.",
            ("Moss, A", "Bell, C"),
            "Fitting post models with the package “lettero",
            id="quotation inside the title",
        ),
        pytest.param("[n.d.]. Stampfox for post offices. http://stampfox.example", (), "Stampfox for post offices",
                     id="no authors, no date"),
        pytest.param("Ann Moss and Cy Bell. [n.d.]. Scraping stamps from letters. In Proc. POST. 9–12.",
                     ("Ann Moss", "Cy Bell"), "Scraping stamps from letters", id="no date in square brackets"),
        pytest.param("Moss J, Belling A von den, Ok K-C. Errors in sorting rooms. Acta Post 2005;49:931.",
                     ("Moss J", "Belling A von den", "Ok K-C"), "Errors in sorting rooms", id="particle at the end"),
        pytest.param("Moss, P., & Bell, M. (2005). Interviews with sorters (Vol. 15, p. 26). Harbour Press.",
                     ("Moss, P", "Bell, M"), "Interviews with sorters", id="volume after the title"),
        pytest.param("Moss, P. (2020). Lettero: A free stamp counter (Version v2.1) [Computer software]. Harbour.",
                     ("Moss, P",), "Lettero: A free stamp counter", id="kind after the title"),
        pytest.param("Bell, B. Stamps: A Fast Counter; Harbour National Lab. (HNL), Harbour, 2014.",
                     ("Bell, B",), "Stamps: A Fast Counter", id="publisher after the title"),
    ],
)  # fmt: skip
def test_title_excludes_surrounding_fields_and_keeps_inner_punctuation(
    entry: str, authors: tuple[str, ...], title: str
) -> None:
    (work,) = parse_references(entry)
    assert (work.authors, work.title) == (authors, title)


def test_wrapped_urls_and_malformed_names_do_not_split_entries() -> None:
    text = (
        "Harbour Post Office (Ed.). (2010). Manual of stamps. Harbour: Post.\n"
        "Bell, K. (2023). Stampy: The stamp package. https://post.example.org/package=\nStampy\n"
        "Carin, van der Moss, Jo de Bell, and Ok, Ria . (2020). Trust in letters.\nPost, 3, 1–9.\n"
        "Posting team. (2025). Letter studio. Posting Software. http://posting.example/\n"
    )
    titles = ["Manual of stamps", "Stampy: The stamp package", "Trust in letters", "Letter studio"]
    entries = parse_references(text)
    assert [title in work.raw for work, title in zip(entries, titles, strict=True)] == [True] * 4


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        ("Post functions. [Online]. Available: https://post.example/functions", "Post functions"),
        ("Rising Prices of Stamps. Post Review 2020;135:e237–60. doi:10.1000/p.3", "Rising Prices of Stamps"),
        ("Moss, H. (1902). Principles of post: Vols. I and II. Harbour & Co.", "Principles of post"),
    ],
)
def test_title_is_read_without_authors_and_without_volumes(entry: str, title: str) -> None:
    assert [work.title for work in parse_references(entry)] == [title]


def test_number_on_a_line_of_its_own_begins_an_entry() -> None:
    text = "1. Moss A. Stamps at sea. 2019.\n2.\nhttps://post.example/letters.pdf [cited 2024].\n3. Bell C. Rain. 2018."
    assert [work.number for work in parse_references(text)] == [1, 2, 3]


def test_entry_continued_in_its_own_paragraph_is_joined() -> None:
    text = (
        "Ash, D. (2001). Sorting by hand. Post, 2, 3.\n\nElm, S. (2010). Testing letters (2nd ed.).\n\n"
        "Boca Harbour: Post Press.\n\nWest, J. (1972). Use of stamps in trials. Post, 61, 1340."
    )
    assert [work.raw.endswith("Press.") for work in parse_references(text)] == [False, True, False]


@pytest.mark.parametrize(
    "broken", ["10.1145/1188913. 1188915", "10.32614/POST. package.stampy", "10.1000/POST. IO/P7492"]
)
def test_doi_that_a_line_end_has_broken_is_joined(broken: str) -> None:
    (work,) = parse_references(f"Moss, A. (2020). Counting stamps in rain. Post. https://doi.org/{broken}")
    assert work.doi == broken.replace(" ", "").casefold()


def test_bare_number_before_a_particle_begins_an_entry() -> None:
    text = (
        "18 Moss EF, Bell KG. Stamps in rain. Post 1994;171:1154.\n"
        "19 van Ash Elm PJ, Ok AJ. Letters in snow. Post 2006;128:187.\n20 Yew O. Ink. Post 1998;3:1."
    )
    assert [work.number for work in parse_references(text)] == [18, 19, 20]


def test_day_and_month_of_a_newspaper_do_not_begin_an_entry() -> None:
    text = (
        "Vogel, Sarah A. 2013. Is It Post? Harbour: Press.\n\n"
        "Young, Ed. 2022. “How Did This Many Letters Become Normal?” The Pacific. March 8, 2022. https://post.example/a."
        "\n\nZeller, Ann. 2019. “Counting Letters in Rain.” Post Studies 2 (1): 3–9. https://doi.org/10.1000/p.9."
    )
    assert [work.year for work in parse_references(text)] == [2013, 2022, 2019]
