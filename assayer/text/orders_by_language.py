"""Patterns for instructions to ignore earlier instructions, or to give the best mark, in many languages.

Each language has a pattern in lower case, and words of which at least one must occur before the pattern is tried. A
verb counts only as an imperative next to the words for what is to be ignored, so papers *about* instructions do not
match."""

from collections.abc import Mapping
from typing import NamedTuple


class OrderInLanguage(NamedTuple):
    needs: str
    """Alternative words separated by `;`, of which the text must contain at least one."""
    pattern: str


_REST = r"[^\n.!?。！？।؟]"
"""Pattern for a character within the same sentence."""


def _ignore(verbs: str, qualifiers: str, nouns: str) -> str:
    """Return a pattern for `Ignore … all previous … instructions`, with qualifiers and nouns in either order."""
    return rf"(?:{verbs})(?={_REST}{{0,60}}?(?:{qualifiers})){_REST}{{0,80}}?(?:{nouns})"


def _ignore_at_end(nouns: str, verbs: str) -> str:
    """Return a pattern for `… instructions … ignore`."""
    return rf"(?:{nouns}){_REST}{{0,40}}?(?:{verbs})"


def _mark(verbs: str, marks: str) -> str:
    return rf"(?:{verbs}){_REST}{{0,60}}?(?:{marks})"


ORDERS_BY_LANGUAGE: Mapping[str, OrderInLanguage] = {
    "Arabic": OrderInLanguage(
        "تجاهل;تجاهلي;انس;امنح;أعط;اعط",
        _ignore(r"تجاهل(?:ي|وا)?|انس(?:وا|ي)?", "السابق|جميع|كل |كافة|أعلاه", "تعليمات|أوامر|توجيهات|إرشادات")
        + "|"
        + _mark("امنح|أعط|اعط", r"أعلى (?:درجة|تقييم|علامة)|10|١٠"),
    ),
    "Bengali": OrderInLanguage("নির্দেশ", _ignore_at_end("নির্দেশ", "উপেক্ষা কর|অগ্রাহ্য কর|ভুলে যা")),
    "Chinese": OrderInLanguage(
        "忽略;無視;无视;忘记;忘記;不要理会;不要理會;满分;滿分;最高分;10分",
        r"(?:忽略|无视|無視).{0,12}(?:指令|指示|提示)|(?:忘记|忘記|不要理[会會]).{0,12}(?:之前|以上|先前|所有).{0,8}(?:指令|指示|提示)"
        r"|(?:给|給|为|為)(?:这|這|本|此|该|該).{0,12}(?:满分|滿分|最高分|10分)",
    ),
    "Czech": OrderInLanguage(
        "ignoruj;zapomeň", _ignore("ignoruj(?:te)?|zapomeň(?:te)?", "předchozí|všechny", "pokyn|instrukc")
    ),
    "Dutch": OrderInLanguage(
        "negeer", _ignore(r"\bnegeer\b", "alle|vorige|eerdere|bovenstaande", "instructies|aanwijzingen|opdrachten")
    ),
    "French": OrderInLanguage(
        "ignorez;ignore;oubliez;oublie",
        r"\b(?:ignorez?|oubliez?)~(?:toutes~(?:les~)?|les~)(?:\w+~)?(?:instructions|consignes)",
    ),
    "German": OrderInLanguage(
        "ignorier;vergiss;vergessen sie",
        r"\bignorieren?~(?:sie~)?alle~(?:\w+~)?anweisungen|\bvergiss~alle~(?:\w+~)?anweisungen"
        r"|\bvergessen~sie~alle~(?:\w+~)?anweisungen",
    ),
    "Greek": OrderInLanguage(
        "αγνόησε;αγνοήστε;αγνοησε;αγνοηστε;ξέχασε;ξεχάστε;δώσε;δώστε;βαθμολόγησε;βαθμολογήστε",
        _ignore(
            "αγνόησε|αγνοήστε|αγνοησε|αγνοηστε|ξέχασε|ξεχάστε",
            "προηγούμεν|προηγουμεν|όλες|ολες|παραπάνω",
            "οδηγίες|οδηγιες|εντολές|εντολες|υποδείξεις",
        )
        + "|"
        + _mark("δώσε|δώστε|βαθμολόγησε|βαθμολογήστε", r"υψηλότερη βαθμολογία|μέγιστη βαθμολογία|άριστα|\b10\b"),
    ),
    "Hebrew": OrderInLanguage(
        "התעלם;התעלמי;התעלמו;שכח", _ignore("התעלמ[יו]|התעלם|שכחו?", "הקודמות|כל |לעיל", "הוראות|הנחיות")
    ),
    "Hindi": OrderInLanguage(
        "निर्देश;आदेश;अंक",
        _ignore_at_end("निर्देश|आदेश", "अनदेखा कर|अनदेखी कर|नज़रअंदाज़ कर|नजरअंदाज कर|उपेक्षा कर|भूल जा")
        + "|"
        + _mark("इस (?:लेख|पत्र|शोध|विचार|प्रस्ताव)", r"(?:10|१०|सर्वोच्च|अधिकतम|पूरे|पूर्ण) अंक (?:दें|दो|दीजिए|दे)"),
    ),
    "Indonesian": OrderInLanguage(
        "abaikan;lupakan", _ignore("abaikan|lupakan", "semua|sebelumnya|di atas", "instruksi|perintah|petunjuk")
    ),
    "Italian": OrderInLanguage(
        "ignora;dimentica", _ignore(r"\b(?:ignora|ignorate|dimentica)\b", "tutte|precedenti", "istruzioni")
    ),
    "Japanese": OrderInLanguage(
        "無視;忘れ;満点;最高点;最高評価;10点",
        r"(?:指示|命令|プロンプト).{0,6}(?:無視|忘れて)|(?:この|本)(?:論文|研究|提案|アイデア).{0,12}(?:満点|最高点|最高評価|10点)",
    ),
    "Korean": OrderInLanguage(
        "무시;잊어;잊으;만점;최고점;10점",
        _ignore_at_end("지시|명령|지침", r"무시(?:하고|하세요|하십시오|해|하라|하여)|잊어|잊으")
        + r"|(?:이|본) ?(?:논문|연구|제안|아이디어).{0,12}(?:만점|최고점|최고 점수|10점)",
    ),
    "Persian": OrderInLanguage("نادیده;فراموش", _ignore_at_end("دستور|راهنمایی", "نادیده بگیر|فراموش کن")),
    "Polish": OrderInLanguage(
        "ignoruj;zapomnij",
        _ignore(
            "(?:z?ignoruj|zapomnij)(?:cie)?",
            "wszystkie|wszystkich|poprzedni|wcześniejsz|powyższ",
            "instrukcj|poleceni|wytyczn|polecen",
        ),
    ),
    "Portuguese": OrderInLanguage(
        "ignore;ignora;desconsider;esqueç",
        _ignore(r"\b(?:ignor[ea]|desconsidere|esqueça)\b", "todas|anteriores|acima", "instruções|orientações"),
    ),
    "Russian": OrderInLanguage(
        "игнориру;забудь;не обращай;не следуй;поставь;оцени;присвой;дай",
        _ignore(
            r"\b(?:про)?игнорируй(?:те)?|\bзабудь(?:те)?|не обращай(?:те)? внимания на|не следуй(?:те)?",
            r"предыдущ|прежн|ранее|выше|\bвсе|любы",
            "указани|инструкци|команд|предписани|распоряжени",
        )
        + "|"
        + _mark(
            r"\b(?:поставь|оцени|присвой|дай)(?:те)?\b",
            r"10 балл|10 из 10|10/10|(?:высш|наивысш|максимальн)\w{1,4} (?:балл|оценк)",
        ),
    ),
    "Spanish": OrderInLanguage(
        "ignor;olvida",
        _ignore(r"\b(?:ignor[ae]|olvid[ae])\b", "todas|anteriores|previas", "instrucciones|indicaciones"),
    ),
    "Thai": OrderInLanguage(
        "เพิกเฉย;ละเว้น;ไม่ต้องสนใจ", _ignore("เพิกเฉย|ละเว้น|ไม่ต้องสนใจ", "ก่อนหน้า|ทั้งหมด|ข้างต้น", "คำสั่ง|คำแนะนำ")
    ),
    "Turkish": OrderInLanguage(
        "talimat;yönerge", _ignore_at_end(r"talimat|yönerge", "yok say|görmezden gel|dikkate alma|unut")
    ),
    "Ukrainian": OrderInLanguage(
        "ігнору;забудь;постав;оціни",
        _ignore(
            r"(?:про)?ігноруй(?:те)?|забудь(?:те)?",
            r"попередн|вище|\bусі|\bвсі|раніше",
            "вказівк|інструкці|команд|настанов",
        )
        + "|"
        + _mark(r"\b(?:постав|оціни)(?:те|ть)?\b", r"10 бал|10 з 10|10/10|(?:найвищ|максимальн)\w{1,4} (?:бал|оцінк)"),
    ),
    "Vietnamese": OrderInLanguage(
        "bỏ qua;phớt lờ;quên",
        _ignore("bỏ qua|phớt lờ|hãy quên", "trước|tất cả|mọi|ở trên", "hướng dẫn|chỉ dẫn|chỉ thị"),
    ),
}
"""Instruction patterns by language. Gaps in a pattern are bounded and do not extend past the sentence."""
