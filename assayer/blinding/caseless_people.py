"""Find people whom a text in a script without capitals introduces, and decide whether it may still name people."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice, takewhile

from assayer.blinding.caseless_names import (
    HAN,
    HANGUL,
    KANA,
    RIGHT_TO_LEFT_WORD,
    TITLE_AFTER,
    TITLE_BEFORE,
    UNSPACED,
    has_known_part,
    parse_caseless_name,
)
from assayer.blinding.people import NamedPerson
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import load_given_names, load_surnames, split_words

_COMMON_SURNAMES = (
    "李刘劉陈陳赵趙吴吳徐孙孫朱胡郭邓鄧冯馮韩韓曹彭肖蕭潘袁董蔡蒋蔣魏吕呂姚崔谭譚廖汪"
    "邹鄒秦邱尹薛闫侯黎贺郝龚邵戴郑鄭宋阚樊欧歐"
)
"""First characters of Chinese surnames that rarely begin other words."""
_NO_CHINESE_NAMES = (
    r"(?!薛定谔|黎曼|黎明|黎巴|冯[·诺]|李雅普|李群|李代数|[徐郑宋赵][州代朝]|韩[国语方日]|秦[岭皇淮朝代]|吴[淞语越]|董事|孙子|戴[维帽]|蒋家|陈[述列旧设年腐皮]|"
    r"欧[洲盟元美氏拉几姆]|胡[萝杨椒须同]|朱[红雀]|曹[冲妃]|彭[胀胖]|侯[鸟爵]|魏[晋格尔]|贺[卡词]|邓[肯恩]|李[子氏普]|曹[操植]|潘[多通]|赵[州]|宋[体词]|崔[化]|吕[梁])"
)
_CHINESE_VERBS = "(?:负责|負責|主持|承担|牵头|撰写|执笔|完成|指导|协助|担任|组织)"
_NO_LAST = "(?<![学學级任校系院业界科向届等位名些])"
_NO_KOREAN_NAMES = split_words(
    "공동 전임 지도 객원 석좌 연구 명예 초빙 겸임 선임 책임 주임 전문 한국 국가 위촉 신임 전공 담당 학과 대학"
)
_NO_FIRST_WORD = split_words("في من على إلى عن مع هذا هذه الذي التي هو هي قد لقد به از با در برای של על את")
_AFTER_PHRASE = (
    r"(?:بقلم|ب?[إا]شراف|تحت [إا]شراف|من [إا]عداد|[إا]عداد|מאת|בהנחיית|בהנחית|בהדרכת|הוגש על ידי|مؤلف|نویسنده|زیر نظر)"
)
_HEADINGS_RIGHT_TO_LEFT = re.compile(
    "مقدم|منهج|هداف|ملخص|خلفية|نتائج|خطة|مراجع|مصادر|مشكلة|همية|دراس|بحث|بحوث|طرق|طريق|مواد|جدول|ميزان|فرضي|حدود|أثر|مشروع|روش|چکیده|نتیج|"
    "پیشینه|طرح|زمینه|پژوهش|מבוא|שיטות|שיטה|רקע|מטרות|תקציר|סיכום|תוצאות|דיון|מחקר|הצעה|תקציב|השערות|בעיה|לוח"
)
_PLACE_AFTER = "(?![市県町村区川湾湖島駅山港池沼浜式半地平大空海高線道街])"
_CITED_AFTER = r"(?!(?:等|ら|らの|他| et al| 등)?[^。\n]{0,12}[（(,，、 ]{1,2}(?:19|20)\d\d)"
_FRONT_LINES, _HEAD_CHARS = 5, 1_500
_MAX_NAME_LINE, _MAX_FRONT_LINE = 40, 60
_LINE_ITEMS = re.compile(r"[、，,；;・·/|]|\s{2,}|(?<=\S)\s(?=\S)")


@cache
def _chinese_name() -> str:
    single = "".join(sorted(name for name in load_surnames() if len(name) == 1 and not re.match(f"[{HANGUL}]", name)))
    double = "欧阳|歐陽|上官|司马|司馬|诸葛|諸葛|司徒|令狐|皇甫|公孙|慕容|夏侯|端木"
    return rf"(?:(?:{double})[{HAN}]{{1,2}}|[{single}][{HAN}]{{1,2}})"


@cache
def _introduction_patterns() -> tuple[re.Pattern[str], ...]:
    name = f"(?P<name>{_chinese_name()})"
    korean = "".join(sorted(item for item in load_surnames() if re.fullmatch(f"[{HANGUL}]", item)))
    word = RIGHT_TO_LEFT_WORD
    right_to_left = rf"(?P<name>{word} (?:ال{word}|{word}(?: ال{word})?))"
    return tuple(
        re.compile(pattern)
        for pattern in (
            rf"由{name}(?=等?{_CHINESE_VERBS})",
            rf"(?:^|[，。；、：:\n]){name}(?={_CHINESE_VERBS})",
            rf"(?:感谢|感謝|致谢|师从|導師|导师为|导师是){name}{_NO_LAST}(?=[，。、的和及]|{TITLE_AFTER}|$)",
            rf"{name}{_NO_LAST}(?=\s?{TITLE_AFTER})",
            rf"(?<![{HAN}])(?P<name>[{HAN}]{{2,5}}(?:[ \u3000][{HAN}]{{1,3}})?)(?=氏(?![名族])|さん|"
            rf"様(?![々子式相])|先生)",
            rf"(?<![{HANGUL}])(?P<name>[{korean}][{HANGUL}]{{2}}|남궁[{HANGUL}]{{1,2}})(?=\s?{TITLE_AFTER})",
            rf"(?<!\S)[وبلולבהמש]{{0,2}}(?:{TITLE_BEFORE}\s{{0,2}}/?\s{{0,2}}){{1,3}}{right_to_left}",
            rf"(?<!\S){_AFTER_PHRASE}[ :/]{{1,3}}(?:{TITLE_BEFORE}\s{{0,2}}){{0,3}}{right_to_left}",
        )
    )


def find_caseless_people(text: str) -> Iterator[NamedPerson]:
    """Yield the people whom titles, thanks or verbs introduce in scripts without capitals."""
    for pattern in _introduction_patterns():
        for match in pattern.finditer(text):
            name = match["name"]
            if name[:2] in _NO_KOREAN_NAMES or name.split(" ")[0] in _NO_FIRST_WORD:
                continue
            if person := parse_caseless_name(name):
                yield NamedPerson(MaskSpan(*match.span("name"), "name"), person)


def caseless_names_may_remain(title: str, text: str, recognised: bool) -> bool:
    """Return whether a text may still name people in scripts without capitals.

    Short lines that consist of known names always count. If people were already `recognised`, likely names count only
    near the beginning and the end of the text. Otherwise they count anywhere, and so do lines at the top that have the
    form of a name."""
    lines = [line.strip(" \t*_>|-•") for line in text.split("\n")]
    lines = [line for line in lines if line and not line.startswith("#") and line != title]
    if any(_names_people(line) for line in (title, *lines) if len(line) <= _MAX_NAME_LINE):
        return True
    if recognised:
        return any(_likely_name_pattern().search(part) for part in (text[:_HEAD_CHARS], text[-_HEAD_CHARS:]))
    front = islice(takewhile(lambda line: len(line) <= _MAX_FRONT_LINE, lines), _FRONT_LINES)
    return any(map(_may_be_byline, front)) or _likely_name_pattern().search(text) is not None


def _names_people(line: str) -> bool:
    """Return whether a short line consists of names that begin with known surnames or first names."""
    whole = parse_caseless_name(line)
    people = [whole] if whole else [parse_caseless_name(item) for item in _LINE_ITEMS.split(line) if item]
    return bool(people) and all(person is not None and has_known_part(person) for person in people)


def _may_be_byline(line: str) -> bool:
    """Return whether a line has the form of one name, and none of the words of headings."""
    short = len(line) <= 6 if re.match(f"[{UNSPACED}]", line) else 2 <= len(line.split()) <= 4
    return short and parse_caseless_name(line) is not None and not _HEADINGS_RIGHT_TO_LEFT.search(line)


@cache
def _likely_name_pattern() -> re.Pattern[str]:
    """Return a pattern that finds surnames and first names that are rarely used as ordinary words."""
    japanese = "|".join(name for name in load_surnames() if len(name) > 1 and not re.match(f"[{HANGUL}]", name))
    first_names = "|".join(name for name in load_given_names() if re.match("[\u0590-\u06ff]", name))
    return re.compile(
        rf"{_NO_CHINESE_NAMES}[{_COMMON_SURNAMES}][{HAN}]{{1,2}}{_CITED_AFTER}"
        rf"|(?<![{HAN}])(?:{japanese}){_PLACE_AFTER}(?=[{HAN}{KANA}、。]){_CITED_AFTER}"
        rf"|(?<![{HANGUL}])김(?!치|장|해|포|천|제)[{HANGUL}]{{2}}{_CITED_AFTER}"
        rf"|(?<!\S)[وبل]?(?:{first_names})(?![\w\u064b-\u0652])"
    )
