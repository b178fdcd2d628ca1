"""Titles of reference lists in the languages in which proposals are written."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from assayer.reference_lists.entry_shape import UNREADABLE
from assayer.text.folding import fold_text
from assayer.text.section_titles import strip_number

ListTitle = Literal["certain", "possible"]
"""Certainty that a title is that of a reference list. `possible` titles, such as `Literature` or `Sources`, are also
used above prose."""

_CERTAIN = """
    references; references cited; reference list; list of references; references and notes; references and citations;
    key references; selected references; cited references; works cited; cited works; list of works cited;
    literature cited; cited literature; bibliography; selected bibliography; bibliographic references;
    bibliographical references; citations; referenced works; works referenced; sources cited; literature list;
    literaturverzeichnis; quellenverzeichnis; literaturangaben; referenzen; zitierte literatur; literaturliste;
    références; références bibliographiques; références citées; bibliographie; liste des références; obras citadas;
    referencias; referencias bibliográficas; bibliografía; referencias citadas; bibliografía citada;
    bibliografía consultada; referências consultadas;
    referências; referências bibliográficas; bibliografia; referências citadas;
    riferimenti bibliografici; riferimenti; bibliografia essenziale; referències; referències bibliogràfiques;
    literatuurlijst; referenties; geraadpleegde literatuur; geraadpleegde bronnen; bronvermelding;
    literatuurverwijzingen; bronnenlijst;
    referenslista; källförteckning; litteraturförteckning; referenser; referanser; referanseliste; litteraturliste;
    referencer; litteraturhenvisninger; lähdeluettelo; kirjallisuusluettelo; viitteet; lähteet; heimildaskrá;
    kaynakça; kaynaklar; bibliyografya; referanslar; piśmiennictwo; literatura cytowana; spis literatury;
    seznam literatury; použitá literatura; zoznam použitej literatúry; irodalomjegyzék; hivatkozások;
    bibliografie; referințe; referințe bibliografice; popis literature; seznam virov; viri in literatura;
    kasutatud kirjandus; literatūros sąrašas; izmantotā literatūra; βιβλιογραφία; αναφορές; βιβλιογραφικές αναφορές;
    список литературы; список использованной литературы; список использованных источников; библиография;
    библиографический список; цитируемая литература; список літератури; список використаних джерел; бібліографія;
    цитирана литература; използвана литература; библиографија;
    参考文献; 参考资料; 參考文獻; 引用文献; 引用文獻; 主要参考文献; 参考書目; 参考文献目录;
    참고문헌; 참고 문헌; 인용문헌; 인용 문헌; المراجع; قائمة المراجع; المصادر والمراجع; منابع; مراجع; فهرست منابع;
    רשימת מקורות; ביבליוגרפיה; מראי מקום; संदर्भ; संदर्भ सूची; সূত্র; তথ্যসূত্র; บรรณานุกรม; เอกสารอ้างอิง;
    daftar pustaka; daftar rujukan; rujukan; tài liệu tham khảo; مراجع و منابع; کتابیات
"""
_POSSIBLE = """
    literature; reference; sources; works; literatur; quellen; quellenangaben; littérature; sources citées; fuentes;
    literatura; letteratura; fonti; fontes; literatuur; bronnen; litteratur; källor; kilder; kirjallisuus; heimildir;
    lit; piśmiennictwo i źródła; bibliografia i źródła; źródła; prameny; zdroje; irodalom; források; izvori; viri;
    kirjandus;
    литература; источники; література; джерела; литература и источници; 文献; 文獻; 文献一览; 출처; مصادر;
    מקורות; อ้างอิง; notes and references; endnotes; resources; further reading; cited; literature references
"""
_DIVISIONS = """
    primary sources; secondary sources; primary literature; secondary literature; archival sources; archives;
    manuscript sources; manuscripts; unpublished sources; published sources; printed sources; printed works;
    books; books and articles; articles; journal articles; book chapters; chapters; monographs; theses; theses
    and dissertations; reports; technical reports; working papers; government documents; official documents;
    policy documents; legislation; statutes; laws; treaties; cases; case law; table of cases; standards;
    patents; newspapers; newspaper articles; media; interviews; software; software and packages; r packages;
    packages; code; data; data sets; datasets; data sources; databases; software and data; data and software;
    web pages; webpages; web sites; websites; web sources; web references; online sources; online resources;
    online references; internet sources; internet resources; electronic sources; other sources; other
    references; other literature; non-scientific sources; scientific literature; grey literature; academic
    literature; main text; methods references; references for methods; supplementary references;
    primärquellen; sekundärliteratur; primärliteratur; gedruckte quellen; ungedruckte quellen; archivalien;
    monographien; monografien; aufsätze; zeitschriftenartikel; bücher; internetquellen; onlinequellen;
    webseiten; gesetze; rechtsprechung; sources primaires; sources secondaires; sources imprimées; sources
    manuscrites; ouvrages; articles et chapitres; sites web; webographie; sitographie; textes de loi; fuentes
    primarias; fuentes secundarias; libros; artículos; páginas web; recursos electrónicos; legislación; fontes
    primárias; fontes secundárias; livros; artigos; fonti primarie; fonti secondarie; libri; articoli;
    sitografia; siti web; siti web consultati; siti consultati; siti internet; sites internet; sites web consultés;
    sites consultés; sitios web; sitios web consultados; sites consultados; sites visitados; páginas web consultadas;
    primaire bronnen; secundaire bronnen; internetbronnen; интернет-источники; нормативные акты;
    网络资源; 专著; 期刊论文
"""


_LISTS = """
    references refs biblio bibliography bibliographies citations referenzen références referencias referências
    bibliographie bibliografía bibliografia bibliografie riferimenti
"""
"""Words that name a reference list."""
_WORKS = """
    literature sources works reading readings citation reference literatur quellen quelle werke littérature
    ouvrages fuentes obras trabajos fontes trabalhos fonti opere letteratura literatuur bronnen litteratur källor
    kilder lähteet kirjallisuus irodalom források kaynaklar źródła literatura zdroje prameny viri источники источников
    литература литературы джерела джерел література rujukan bacaan
"""
"""Words that name works; the title of a list has another word for their use."""
_CITED = """
    cited consulted used referenced quoted zitierte zitierten verwendete benutzte genutzte cités citées cité consultés
    consultées utilisés citados citadas citada consultadas consultados utilizada utilizadas utilizados citate citati
    consultate geraadpleegde gebruikte citerade anvand citeret käytetyt felhasznált hivatkozott idézett yararlanılan
    kullanılan cytowana wykorzystana wykorzystane použitá použité uporabljena использованные использованных
    использованная использованной цитируемая цитируемые використані використаних
"""
"""Words that say that works are cited."""
_FURTHER = """
    key main core essential selected important relevant related supporting background further additional suggested
    recommended primary secondary scientific academic scholarly supplementary supplemental supplement other general
    complete full online only method methods star extended weitere weiterführende zusätzliche ergänzende wichtige
    ausgewählte grundlegende supplémentaires complémentaires adicionales complementarias complementares adicionais
    aggiuntive aanvullende
"""
"""Words that say which works are listed."""
_SMALL = """
    of the for and in to this our we a an all by from with list section proposal application text document paper project
    plan study report thesis dissertation appendix material information data statements verzeichnis der die das und für
    zum zur liste des les et de la le du y e los las el lista da do das dos di delle dei
"""
"""Other words of such titles."""


def _reduce_to_letters(title: str) -> str:
    """Return a title in lower case, without accents and spaces. PDFs may have spaces between a title's letters."""
    return "".join(filter(str.isalnum, fold_text(title.translate(_ACCENTS))))


_ACCENTS = dict.fromkeys(map(ord, "´ˆ˜¨˚¯˘˙¸ˇ˝`"))
"""Accents that stand beside their letter: `Re´fe´rences`."""


def _titles(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_reduce_to_letters, text.split(";"))))


_BY_CERTAINTY: tuple[tuple[ListTitle, frozenset[str]], ...] = (
    ("certain", _titles(_CERTAIN)),
    ("possible", _titles(_POSSIBLE)),
)
_WORDS = {
    name: frozenset(text.split())
    for name, text in {"list": _LISTS, "work": _WORKS, "cited": _CITED, "further": _FURTHER, "small": _SMALL}.items()
}
_WORKS_OF_AUTHORS = frozenset(["papers", "articles", "publications", "studies", "documents", "documentos"])
"""Words that also name an applicant's own works, unless they are said to be cited."""
_DIVISION_KEYS = _titles(_DIVISIONS)
_MAX_LINE_CHARS = 120
_MAX_WORDS = 8
_MARKS = re.compile(r"^[\s>]*(?:[-*+•]\s+)?|[\s:：.。*_#=]+$")
_ATTRIBUTES = re.compile(r"\s*\{[^{}]{0,200}\}\s*$")
"""Attributes of a heading in pandoc's Markdown: `{#refs .unnumbered}`."""
_EMPHASIS = re.compile(r"\*\*|__|[*_`【】\[\]〔〕]")
_BRACKETED = re.compile(r"\s*[(（][^()（）]{1,40}[)）]$")
_ALL = re.compile(r"^(?:complete|full|main|all|additional|combined|general|numbered)\s+", re.IGNORECASE)
_AND = re.compile(r" (?:and|und|et|y|e|i|en|och|og|ja|ve|и|та|і) | ?[/,;、，及] ?")
_PART = re.compile(
    r"^(?:appendix|annexe?|anhang|anlage|anexo|apéndice|allegato|supplement(?:ary (?:material|information))?|part|"
    r"section|chapter|teil|kapitel)?(?: ?(?:[A-Z]|\d{1,2}|[IVX]{1,4}))?\s?[:.|–—-]\s",
    re.IGNORECASE,
)
"""Part of a document before a title: `Appendix A: References`, `8 | References`."""
_ROMAN = re.compile(r"^[IVXivx]{1,5}[.)]?\s+(?=\S)|^[一二三四五六七八九十]{1,3}[、.．]\s*")


def list_title(line: str) -> ListTitle | None:
    """Return how certain it is that a line or heading is the title of a reference list; None if it is not one."""
    return _list_title(line) if len(line) <= _MAX_LINE_CHARS and not UNREADABLE.search(line) else None


def is_division(line: str) -> bool:
    """Return whether a line is the title of a part of a reference list: `Primary sources`, `Software`."""
    if len(line) > _MAX_LINE_CHARS:
        return False
    plain = _MARKS.sub("", _EMPHASIS.sub("", _MARKS.sub("", _ATTRIBUTES.sub("", line.lstrip("#= "))))).strip(" .:：")
    titles = (plain, strip_number(plain), _ROMAN.sub("", plain), re.sub(r"^[A-Za-z\d]{1,2}[.)]\s+", "", plain))
    return any(_reduce_to_letters(title.replace("&", "and")) in _DIVISION_KEYS for title in titles)


@lru_cache(maxsize=4_096)
def _list_title(line: str) -> ListTitle | None:
    bare = _ATTRIBUTES.sub("", line.lstrip("#= "))
    plain = _MARKS.sub("", _EMPHASIS.sub("", _MARKS.sub("", bare)))
    plain = _PART.sub("", _BRACKETED.sub("", plain)).strip(" .:：")
    for candidate in (
        plain,
        strip_number(plain),
        _ROMAN.sub("", plain),
        _ALL.sub("", plain),
        re.sub(r"^\d{1,2}\.?\s*", "", plain),
    ):
        title = " ".join(candidate.casefold().replace("&", "and").split())
        if certainty := _certainty(title) or _certainty_of_parts(_AND.split(title)) or _certainty_of_words(title):
            return certainty
    return None


def _certainty(title: str) -> ListTitle | None:
    key = _reduce_to_letters(title)
    return next((certainty for certainty, titles in _BY_CERTAINTY if key in titles), None)


def _certainty_of_parts(parts: Sequence[str]) -> ListTitle | None:
    """Return the certainty of a title that joins several: `sources and further reading`."""
    found = [_certainty(part) for part in parts] if len(parts) > 1 else [None]
    return None if None in found else "certain" if "certain" in found else "possible"


def _certainty_of_words(title: str) -> ListTitle | None:
    """Return the certainty of a title of usual words: `supplementary references`, `papers cited in this proposal`."""
    words = frozenset(re.findall(r"[^\W\d_]+", title))
    kinds = {name for name, known in _WORDS.items() if words & known}
    named = frozenset().union(*_WORDS.values()) | (_WORKS_OF_AUTHORS if "cited" in kinds else frozenset())
    if not 0 < len(words) <= _MAX_WORDS or not words <= named or re.search(r"\d|\. \.", title):
        return None
    if "list" in kinds:
        return "certain"
    is_named = "work" in kinds or not words.isdisjoint(_WORKS_OF_AUTHORS)
    return "possible" if is_named and kinds & {"cited", "further"} else None
