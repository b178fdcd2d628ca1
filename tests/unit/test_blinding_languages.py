"""Names in the forms of many languages: particles, degrees, capitals, case endings, and scripts without capitals."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea
from tests.unit.texts_of_languages import (
    ARABIC,
    CHINESE,
    CZECH,
    ENGLISH,
    FINNISH,
    GERMAN,
    HEBREW,
    JAPANESE,
    KOREAN,
    POLISH,
    RUSSIAN,
    TURKISH,
)

INTRODUCTIONS = {
    "Spanish particles": (
        ENGLISH,
        "María del Pilar Urrutikoetxea de la Vega\nUniversity of Elmsea",
        ["Urrutiko", "Vega"],
    ),
    "Spanish double name": (ENGLISH, "Presented by José Ignacio Zubiaurre y Larrondo", ["Zubiaurre", "Larrondo"]),
    "Portuguese particles": (
        ENGLISH,
        "João Pedro dos Santos Castelhano e Noronha, Lindalva das Neves Sampaio",
        ["Castelhano", "Noronha", "Sampaio"],
    ),
    "five words": (ENGLISH, "Supervisor: Ana Rita de Oliveira Machado Brandoeiro", ["Brandoeiro", "Machado"]),
    "capitals first": (ENGLISH, "VERHAEGHEN Jacomine, QUÉMENEUR Erwan\n\nVerhaeghen leads.", ["Verhaeghen", "QUÉM"]),
    "capitals first, particle": (ENGLISH, "PI: LE BIHAN-TALARMIN Enora; VAN DER STEUR Bo", ["BIHAN", "STEUR"]),
    "capitals last": (ENGLISH, "Presented by Jacomine VERHAEGHEN\n\nVerhaeghen leads.", ["Verhaeghen", "VERH"]),
    "degrees": (RUSSIAN, "к.ф.-м.н. И. К. Чернобровин, д.б.н., проф. М.М.Златогорский", ["Чернобров", "Златогор"]),
    "candidate of sciences": (RUSSIAN, "Научный руководитель: канд. биол. наук, доцент Чернобровин И.К.", ["Чернобр"]),
    "patronymic": (
        RUSSIAN,
        "Исполнители:\nЧернобровин Игорь Кузьмич, к.т.н.\nЯгодкина Аглая Фёдоровна, аспирант\n\nВопросы к Ягодкиной.",
        ["Чернобров", "Ягодкин", "Аглая"],
    ),
    "cases": (RUSSIAN, "Автор: Златогорский М.М.\n\nГруппа Златогорского работает со Златогорским.", ["Златогор"]),
    "genitive title": (RUSSIAN, "Работа идёт под руководством профессора Златогорского Матвея Марковича.", ["Златог"]),
    "Ukrainian": (RUSSIAN, "Керівник проєкту: Їжакевич Олеся Іванівна\nВиконавці: Ґудзь Є.Ю.", ["Їжакевич", "Ґудзь"]),
    "Chinese labels": (CHINESE, "作者：欧阳晓岚、蒲德馨 单位：东湖大学\n\n蒲德馨负责采样。", ["晓岚", "蒲德馨"]),
    "Chinese titles": (CHINESE, "导师：樊志恒教授\n课题组成员：阚佩琳 蒲德馨", ["樊志恒", "阚佩琳", "蒲德馨"]),
    "Chinese byline": (CHINESE, "阚佩琳 樊志恒\n（东湖大学 海洋学院，江城 430000）", ["阚佩琳", "樊志恒"]),
    "Chinese sentence": (
        CHINESE,
        "项目由阚佩琳负责，采样由樊志恒教授主持。感谢蒲德馨老师。",
        ["阚佩琳", "樊志恒", "蒲德馨"],
    ),
    "Japanese labels": (JAPANESE, "研究分担者：蓼沼 圭吾、汐見 千尋\n\n蓼沼が担当する。", ["蓼沼", "圭吾", "汐見"]),
    "Japanese byline": (JAPANESE, "鴻巣弥生・蓼沼圭吾（東湖大学）\n\n鴻巣が担当する。", ["鴻巣", "蓼沼"]),
    "Japanese kana": (JAPANESE, "樫尾みなみ¹、鷹觜俊²\n¹東湖大学\n\n樫尾が準備した。", ["樫尾", "鷹觜"]),
    "Chinese table": (
        CHINESE,
        "姓名 | 职称 | 分工\n\n厍文心 | 副教授 | 负责\n\n庹明川 | 讲师 | 采样",
        ["厍文心", "庹明川"],
    ),
    "Chinese without colon": (CHINESE, "【作者】缪若愚　沙晚晴\n指导老师 訾文博", ["缪若愚", "沙晚晴", "訾文博"]),
    "Korean labels": (
        KOREAN,
        "공동연구원: 옥가람, 탁빛솔\n지도교수: 편나래 교수\n\n옥가람이 맡는다.",
        ["옥가람", "탁빛솔", "편나래"],
    ),
    "Arabic labels": (
        ARABIC,
        "إعداد: سلمى الزهراوي\nإشراف: أ.د. مروان القحطبي\n\nوسيتولى القحطبي العمل، ويعود للزهراوي الفضل.",
        ["الزهراوي", "للزهراوي", "القحطبي"],
    ),
    "Arabic list": (
        ARABIC,
        "الباحثون: سلمى الزهراوي، هيثم البشتاوي وقاسم الدرغامي",
        ["الزهراوي", "البشتاوي", "الدرغامي"],
    ),
    "Hebrew labels": (HEBREW, "מגישה: אביטל שדמון-כרמי\nבהנחיית פרופ' נדב אורפז", ["שדמון", "אורפז"]),
    "Persian labels": (ARABIC, "مجری طرح: دکتر نگار فراهانی‌پور\nهمکاران: بهزاد ایزدیار", ["فراهانی", "ایزدیار"]),
    "German laboratory": (GERMAN, "Name: Dr. Ubbo Terhalle\n\nDas Terhalle-Labor misst.", ["Terhalle"]),
    "Polish vowel": (POLISH, "Promotor: prof. dr hab. Gniewomir Chwalibóg\n\nPrace Chwaliboga.", ["Chwalib"]),
    "thanks in Russian": (RUSSIAN, "Авторы благодарят О. Р. Мурзакаеву за помощь.", ["Мурзакаев"]),
    "German genitive": (GERMAN, "Antragstellerin: Prof. Dr. Rike Hasenmöhl\n\nHasenmöhls Gruppe misst.", ["Hasenmöhl"]),
    "Finnish": (
        FINNISH,
        "Hakija: Aliisa Väänttinen\nVastuullinen tutkija: Onni Lumikangas\n\nVäänttisen ryhmä ja Lumikankaan vene.",
        ["Väänttisen", "Lumikan"],
    ),
    "Turkish": (TURKISH, "Hazırlayan: Sevgi Taşkıran\n\nTaşkıran'ın ekibi, Taşkıran’a göre, Sevgi'den.", ["Taşkıran"]),
    "Polish": (
        POLISH,
        "Kierownik projektu: Bogumiła Wrześniewska\n\nZespół Wrześniewskiej z Wrześniewską.",
        ["Wrześniew"],
    ),
    "Czech": (CZECH, "Řešitel: Květoslav Hrdličný\n\nHrdličného práce s Hrdličným.", ["Hrdličn"]),
}


def mask_text(text: str) -> str:
    return blind_idea(parse_idea(f"# 1\n\n{text}", "idea.md")).text


@pytest.mark.parametrize(("body", "lines", "hidden"), INTRODUCTIONS.values(), ids=INTRODUCTIONS)
def test_names_in_the_forms_of_a_language_are_masked(body: str, lines: str, hidden: list[str]) -> None:
    text = mask_text(f"{lines}\n\n{body}")
    assert [name for name in hidden if name in text] == []
    assert body in text


TEXTS_TO_KEEP = {
    "plural": (ENGLISH, "By Anna Robert\n\n", "Roberts (2019) disagrees. The Robertson score is used."),
    "Cyrillic words": (RUSSIAN, "Автор: Белый А.И.\n\n", "Белое море и Белому морю. Белая ночь."),
    "Chinese words": (CHINESE, "作者：王建设\n\n", "国王大道的建设已经完成。"),
    "German nouns": (GERMAN, "Autorin: Gerda Kern\n\n", "Die Kerne werden gezählt."),
    "Korean words": (KOREAN, "연구책임자: 김수정\n\n", "수정된 계획을 따른다."),
    "acronym": (ENGLISH, "By ROBOTIS Lab\n\n", "NASA Mission data and LSTM Models are used."),
}


@pytest.mark.parametrize(("body", "author", "words"), TEXTS_TO_KEEP.values(), ids=TEXTS_TO_KEEP)
def test_words_like_a_name_of_the_author_stay(body: str, author: str, words: str) -> None:
    assert words in mask_text(f"{author}{body} {words}")
