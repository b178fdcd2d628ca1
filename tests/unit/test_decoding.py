"""Encodings of text files: recognised, or refused, and never guessed in silence."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from assayer.text.decoding import decode_text, encoding_name, encoding_of

TEXTS = {
    "Chinese": "计划书评审中的不确定性\n\n资助机构每年收到数千份研究计划书，评审专家无法核对文献是否真实。",
    "Taiwanese": "計畫書評審中的不確定性\n\n資助機構每年收到數千份研究計畫書，評審專家無法核對文獻是否真實。",
    "Japanese": "研究計画の評価\n\n助成機関は毎年数千件の研究計画書を受け取り、文献を確認できない。",
    "Korean": "연구 계획의 평가\n\n연구비 지원 기관은 매년 연구 계획서를 받지만 문헌을 확인할 수 없다.",
    "Russian": "Оценка заявок\n\nФонды читают тысячи заявок и не могут проверить, существуют ли работы.",
    "Ukrainian": "Оцінка заявок\n\nФонди читають тисячі заявок і не можуть перевірити, чи існують праці.",
    "French": "Évaluation\n\nLes agences lisent des milliers de projets ; l’étude “naïve” – coûts élevés – le prouve.",
    "Belgian": "Évaluation\n\nUne œuvre coûte 100 € ; les agences naïves lisent des milliers de projets déjà évalués.",
    "German": "Prüfung\n\nFörderer lesen tausende Pläne und prüfen nie, ob die Werke, auf denen sie fußen, existieren.",
    "English": "EAGER: Scoring plans – a naïve view. It’s said that offices read thousands of plans.",
    "Polish": "Ocena wniosków\n\nAgencje czytają tysiące wniosków i nie mogą sprawdzić prac. Źródła są różne.",
    "Czech": "Hodnocení návrhů\n\nAgentury čtou tisíce návrhů a nemohou ověřit práce. Žádosti jsou různé.",
    "Hungarian": "Pályázatok\n\nA finanszírozók több ezer tervet olvasnak, és nem ellenőrzik. Őszinte, hűséges.",
    "Turkish": "Öneriler\n\nFon kuruluşları binlerce planı okuyor ve çalışmaları kontrol edemiyor; güçlükler.",
    "Greek": "Αξιολόγηση\n\nΟι οργανισμοί διαβάζουν χιλιάδες προτάσεις και δεν μπορούν να ελέγξουν τα έργα.",
    "Hebrew": "הערכת הצעות מחקר\n\nסוכנויות מימון קוראות אלפי תוכניות ואינן יכולות לבדוק ידנית אם העבודות קיימות.",
    "Arabic": "تقييم المقترحات\n\nتقرأ وكالات التمويل آلاف الخطط ولا تستطيع التحقق يدويا من وجود الأعمال.",
}
_LEGACY_ENCODINGS = {
    "Chinese": ("gb18030",),
    "Taiwanese": ("big5",),
    "Japanese": ("shift_jis", "euc_jp", "iso2022_jp"),
    "Korean": ("euc_kr",),
    "Russian": ("cp1251", "koi8_r", "mac_cyrillic"),
    "Ukrainian": ("koi8_u",),
    "French": ("cp1252", "mac_roman"),
    "Belgian": ("cp1252", "iso8859_15"),
    "German": ("cp1252", "mac_roman", "cp850"),
    "English": ("cp1252", "mac_roman"),
    "Polish": ("cp1250", "iso8859_2"),
    "Czech": ("cp1250", "iso8859_2"),
    "Hungarian": ("cp1250",),
    "Turkish": ("cp1254",),
    "Greek": ("cp1253",),
    "Hebrew": ("cp1255",),
    "Arabic": ("cp1256",),
}
ENCODINGS = {
    name: ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", *_LEGACY_ENCODINGS[name]) for name in TEXTS
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_in_known_encodings_is_decoded_correctly(name: str) -> None:
    for encoding in ENCODINGS[name]:
        assert decode_text(TEXTS[name].encode(encoding), "a.txt") == TEXTS[name], encoding


@pytest.mark.parametrize("name", TEXTS)
def test_encoding_of_a_large_file_is_recognised_and_the_file_rewound(name: str) -> None:
    text = f"title,text\n{TEXTS[name]}"
    for encoding in ENCODINGS[name]:
        if encoding == "iso2022_jp":
            continue
        file = io.BytesIO(text.encode(encoding))
        recognised = encoding_of(file, "a.csv")
        assert file.tell() == 0
        assert file.read().decode(recognised).removeprefix("\ufeff") == text, encoding


def test_unknown_encoding_is_rejected_with_advice() -> None:
    vietnamese = (
        "Đa\u0301nh gia\u0301 đê\u0300 xuâ\u0301t: ca\u0301c cơ quan đo\u0323c nghi\u0300n kê\u0301 hoa\u0323ch"
    )
    with pytest.raises(
        InputError, match=r"a\.txt is not UTF-8, and its encoding could not be detected\. Save it as UTF-8"
    ):
        decode_text(vietnamese.encode("cp1258"), "a.txt")


def test_binary_data_is_rejected() -> None:
    with pytest.raises(InputError, match="contains binary data"):
        decode_text(b"Plans \0\0\1\0 and more \0 of them", "a.txt")


def test_declared_encoding_is_used_only_for_non_utf_8_text() -> None:
    assert decode_text("Příliš".encode("cp1250"), "a.html", "windows-1250") == "Příliš"
    assert decode_text("Příliš".encode(), "a.html", "windows-1250") == "Příliš"


def test_encodings_are_shown_with_familiar_names() -> None:
    assert [encoding_name(item) for item in ("cp1252", "mac_roman", "gb18030", "utf-8-sig")] == [
        "Windows-1252", "Mac Roman", "GB18030", "UTF-8",
    ]  # fmt: skip


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_decoded_or_rejected(data: bytes) -> None:
    try:
        decode_text(data, "a.txt")
    except InputError:
        return


@pytest.mark.parametrize(("name", "read_as"), [("French", "cp1252"), ("English", "cp1252"), ("Polish", "cp1252")])
def test_text_encoded_twice_is_read_as_it_was(name: str, read_as: str) -> None:
    twice = TEXTS[name].encode().decode(read_as, "surrogateescape")
    twice = "".join(chr(ord(item) - 0xDC00) if item > "\udc7f" else item for item in twice)
    assert decode_text(twice.encode("utf-8", "surrogatepass"), "a.txt") == TEXTS[name]


def test_text_about_mojibake_is_unchanged() -> None:
    text = "The letter é is shown as Ã© when a reader guesses the wrong encoding – a naïve one."
    assert decode_text(text.encode(), "a.txt") == text
