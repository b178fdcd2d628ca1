"""Notes that names may remain: given where a name is left, and only where words look like a name."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea
from tests.unit.texts_of_languages import ARABIC, CHINESE, ENGLISH, HEBREW, JAPANESE, KOREAN, RUSSIAN

THAI = "น้ำหนักของหิมะบนหลังคาวัดได้ยากมาก เราจะเปรียบเทียบข้อมูลทั้งสองชุดและวาดแผนที่ของน้ำหนัก ตัวกรองคาลมานใช้เชื่อมข้อมูลทั้งสองชุดในทุกจุด"

TEXTS_WITHOUT_NAMES = {
    "English terms": f"{ENGLISH} We use Inception Score, AutoDock Vina, African American English and Atom Pairs.",
    "English steps": f"{ENGLISH}\n\n1. Apply LLM Judge\n2. Select HumanEval\n3. Create JSON Files",
    "Russian": f"{RUSSIAN} Балтийское море и Северный Кавказ не рассматриваются. Преобразование Фурье применяется.",
    "Chinese": f"## 背景\n\n{CHINESE}\n\n研究方法\n\n{CHINESE}",
    "Chinese eponyms": f"{CHINESE}黎曼流形、李群和薛定谔方程不使用。徐州和郑州为对照区（李明等，2019）。",
    "Japanese": f"## 概要\n\n{JAPANESE}\n\n研究計画\n\n{JAPANESE}石川県と千葉県を対照とする。",
    "Korean": f"## 서론\n\n{KOREAN}\n\n연구 방법\n\n{KOREAN} 최근 자료를 사용한다.",
    "Arabic": f"## المقدمة\n\n{ARABIC}\n\nالمنهج\n\n{ARABIC}",
    "Hebrew": f"## מבוא\n\n{HEBREW}\n\nשיטות\n\n{HEBREW}",
    "all masked, Chinese": f"作者：欧阳晓岚、蒲德馨\n\n{CHINESE}",
    "all masked, Japanese": f"研究代表者：鴻巣 弥生\n\n{JAPANESE}",
    "all masked, Korean": f"연구책임자: 편나래\n\n{KOREAN}",
    "all masked, Arabic": f"إعداد: سلمى الزهراوي\n\n{ARABIC}",
    "all masked, Russian": f"Автор: Чернобровин И.К.\n\n{RUSSIAN}",
}
TEXTS_WITH_NAMES = {
    "English": f"{ENGLISH} Qwfp Zxcvbn keeps the scales.",
    "Russian": f"{RUSSIAN} Керны хранит Аглая Златогорская.",
    "Chinese byline": f"匡若兮\n\n{CHINESE}",
    "Chinese sentence": f"{CHINESE}采样工作与刘若兮一起进行。",
    "Chinese, one masked": f"作者：欧阳晓岚\n\n{CHINESE}\n\n刘若兮",
    "Japanese sentence": f"{JAPANESE}試料は佐藤弥生が運ぶ。",
    "Japanese byline": f"鴻巣弥生\n\n{JAPANESE}",
    "Korean byline": f"옥가람\n\n{KOREAN}",
    "Arabic sentence": f"{ARABIC} وتساعدنا فاطمة الزهراوي في القياس.",
    "Arabic byline": f"جهينة القحطبي\n\n{ARABIC}",
    "Hebrew byline": f"נדב אורפז\n\n{HEBREW}",
    "script without rules": THAI,
}


def _may_remain(text: str) -> bool:
    record = blind_idea(parse_idea(f"# 1\n\n{text}", "idea.md")).blinding
    assert record is not None
    return record.names_may_remain


@pytest.mark.parametrize("text", TEXTS_WITHOUT_NAMES.values(), ids=TEXTS_WITHOUT_NAMES)
def test_text_without_possible_names_has_no_note(text: str) -> None:
    assert not _may_remain(text)


@pytest.mark.parametrize("text", TEXTS_WITH_NAMES.values(), ids=TEXTS_WITH_NAMES)
def test_text_with_a_possible_name_has_a_note_or_is_masked(text: str) -> None:
    masked = blind_idea(parse_idea(f"# 1\n\n{text}", "idea.md"))
    assert masked.blinding is not None
    assert masked.blinding.names_may_remain or any(item.kind == "name" for item in masked.blinding.masked)
