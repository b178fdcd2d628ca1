"""Quotes in scripts without spaces, and behind elided articles: found where they stand, not where they were bent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.quotes import occurs_in
from assayer.models import PaperId

CHINESE = "我们发现新的治疗方法在所有试验中降低了老年患者的死亡率并且减少了费用。"
JAPANESE = "実験の結果、我々の提案手法は既存の手法よりも高い精度を達成したことを示す。"
THAI = "เราพบว่าวิธีใหม่ลดอัตราการเสียชีวิตของผู้ป่วยสูงอายุในการทดลองทั้งหมด"
KHMER = "យើងបានរកឃើញថាវិធីសាស្ត្រថ្មីកាត់បន្ថយអត្រាមរណភាពរបស់អ្នកជំងឺវ័យចំណាស់"
HINDI = "हमने पाया कि नई विधि ने सभी परीक्षणों में मृत्यु दर को बहुत कम किया है और लागत भी"
FRENCH = "Nous montrons que l’algorithme proposé réduit la mortalité des patients âgés dans tous les essais."


def check(quote: str, text: str) -> Quoted:
    quoted = check_quote(quote, Evidence(label="P1", paper_id=PaperId("a"), title="A study", year=None, text=text))
    assert quoted is not None
    return quoted


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("降低了老年患者的死亡率并且减少了费用", CHINESE),
        ("新的治疗方法在所有试验中降低了老年患者", CHINESE),
        ("新的治疗方法在所有 试验中降低了老年患者", CHINESE),
        ("新的治疗方法在所有试验中降低了老年患者", CHINESE.replace("所有试验", "所有\n试验")),
        ("使用GPT-4模型对患者的病历进行分类并提取信息", "本文使用GPT-4模型对患者的病历进行分类并提取信息和证据。"),
        ("提案手法は既存の手法よりも高い精度を達成した", JAPANESE),
        ("วิธีใหม่ลดอัตราการเสียชีวิตของผู้ป่วยสูงอายุ", THAI),
        ("វិធីសាស្ត្រថ្មីកាត់បន្ថយអត្រាមរណភាព", KHMER),
        ("नई विधि ने सभी परीक्षणों में मृत्यु दर को बहुत कम किया है", HINDI),
    ],
)
def test_quote_from_middle_of_clause_is_verified_without_word_spaces(quote: str, text: str) -> None:
    quoted = check(quote, text)
    assert quoted.state == "verified", quoted.objection
    assert "".join(quoted.words.split()) in "".join(text.split())


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("新的治疗方法在所有试验中降低了老年患者", CHINESE.replace("降低", "提高")),
        ("新的治疗方法在所有试验中不降低老年患者的死亡率", CHINESE.replace("降低了", "降低")),
        ("วิธีใหม่ลดอัตราการเสียชีวิตของผู้ปวยสูงอายุ", THAI),
        ("नई विधि ने सभी परीक्षणों में मृत्य दर को बहुत कम किया है", HINDI),
        ("नई विधि ने सभी परीक्षणों में मृत्यु दर का बहुत कम किया है", HINDI),
        ("老年患者的死亡率在所有试验中下降了5", "老年患者的死亡率在所有试验中下降了5万人。"),
        ("万名老年患者在所有试验中没有死亡", "共有5万名老年患者在所有试验中没有死亡。"),
        ("十五名老年患者在所有试验中都没有死亡", "共有二十五名老年患者在所有试验中都没有死亡。"),
        ("5%的老年患者在所有试验中都没有死亡", "共有负5%的老年患者在所有试验中都没有死亡。"),
        ("五的老年患者在所有试验中都没有死亡过", "共有百分之五的老年患者在所有试验中都没有死亡过。"),
        ("10%的老年患者在所有试验中都没有死亡", "约5～10%的老年患者在所有试验中都没有死亡。"),
        ("10%的老年患者在所有试验中都没有死亡", "约5至10%的老年患者在所有试验中都没有死亡。"),
    ],
)
def test_quote_with_changed_letter_vowel_or_number_is_not_found(quote: str, text: str) -> None:
    assert not occurs_in(quote, text)


def test_inserted_chinese_negation_is_not_tolerated_as_typo() -> None:
    text = (
        "我们提出了一个新的模型，并且在多个数据集上进行测试，结果表明该方法可以有效提高准确率，同时减少计算成本，"
        "此外我们分析误差来源，讨论未来方向，给出代码实现，最后总结全文。"
    )
    assert occurs_in(text, text)
    assert not occurs_in(text.replace("该方法可以", "该方法不可以"), text)
    assert not occurs_in(text, text.replace("该方法可以", "该方法不可以"))


@given(st.integers(0, len(CHINESE) - 17), st.integers(16, 30), st.booleans())
def test_any_chinese_substring_is_verified_unless_a_character_changed(start: int, size: int, is_changed: bool) -> None:
    quote = CHINESE[start : start + size]
    assert check(quote, CHINESE).state == "verified"
    middle = start + min(size, len(CHINESE) - start - 1) // (2 if is_changed else 3)
    assert not occurs_in(quote, f"{CHINESE[:middle]}鬱{CHINESE[middle + 1 :]}")


@pytest.mark.parametrize("apostrophe", ["'", "’", "´", "ʼ", "ʻ", "`", "＇", "′", "’ "])
def test_all_apostrophe_characters_are_equivalent(apostrophe: str) -> None:
    assert check(FRENCH.replace("’", apostrophe), FRENCH).state == "verified"
    assert check(FRENCH, FRENCH.replace("’", apostrophe)).state == "verified"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("algorithme proposé réduit la mortalité des patients âgés dans tous les essais", FRENCH),
        (
            "analisi dei dati mostra che il metodo riduce la mortalità",
            "Dall’analisi dei dati mostra che il metodo riduce la mortalità.",
        ),
        (
            "une baisse de la mortalité des patients âgés dans tous les essais",
            "Il s’agit d'une baisse de la mortalité des patients âgés dans tous les essais.",
        ),
        (
            "il réduit la mortalité des patients âgés dans tous les essais",
            "On sait qu’il réduit la mortalité des patients âgés dans tous les essais.",
        ),
        (
            "anàlisi mostra que el mètode redueix la mortalitat dels pacients",
            "Diuen que l’anàlisi mostra que el mètode redueix la mortalitat dels pacients.",
        ),
    ],
)
def test_quote_may_begin_after_an_elided_article(quote: str, text: str) -> None:
    quoted = check(quote, text)
    assert quoted.state == "verified"
    assert quoted.words in text


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (
            "améliore la survie des patients que dans un seul groupe",
            "Il n’améliore la survie des patients que dans un seul groupe.",
        ),
        (
            "t improve the survival of patients in any of the groups",
            "It doesn't improve the survival of patients in any of the groups.",
        ),
        (
            "s treatment improved the survival of patients in all groups",
            "The patient’s treatment improved the survival of patients in all groups.",
        ),
    ],
)
def test_quote_may_not_begin_within_other_words_with_an_apostrophe(quote: str, text: str) -> None:
    assert not occurs_in(quote, text)
