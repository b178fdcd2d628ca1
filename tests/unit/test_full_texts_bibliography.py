"""Lists of references as plain text are taken apart as far as they can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.models import CitedWork
from workers.full_texts.bibliography import read_references

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


def told(work: CitedWork) -> tuple[str, int | None, tuple[str, ...]]:
    return work.title, work.year, work.authors


@pytest.mark.parametrize(
    ("text", "works"),
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
def test_entries_are_taken_apart(text: str, works: list[tuple[str, int, tuple[str, ...]]]) -> None:
    assert [told(work) for work in read_references(text)] == works


def test_identifiers_are_found_in_their_normal_form() -> None:
    medical, engineering = read_references(MEDICAL), read_references(ENGINEERING)
    assert medical[0].doi == "10.1186/2040-7378-6-9"
    assert engineering[1].arxiv == "1412.6980"


def test_entry_of_no_known_form_keeps_its_words_and_claims_no_fields() -> None:
    text = "\n\n".join(f"[{n}] Minutes of meeting {n} 1998 in box 4" for n in (1, 2, 3))
    assert [(work.raw, work.title, work.authors) for work in read_references(text)] == [
        (f"Minutes of meeting {n} 1998 in box 4", "", ()) for n in (1, 2, 3)
    ]


def test_prose_is_no_list_of_references() -> None:
    assert read_references("Nothing here was cited, and nobody minded.") == ()


@pytest.mark.parametrize(
    "unit", ["Lee and Chen and ", "a. b, ", "[1] x ", "1. A ", "“quote” ", "Lee, A., ", ". Aa, Bb"]
)
def test_long_hostile_text_is_read_to_its_end(unit: str) -> None:
    assert len(read_references(unit * 20_000)) <= 2_000


@given(st.text(max_size=400))
def test_any_text_gives_entries_with_words(text: str) -> None:
    assert all(work.raw for work in read_references(text))
