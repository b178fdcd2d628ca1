"""What negates in Chinese, Japanese and Thai, and after a verb in Korean, around words that are cut from a sentence.

No spaces tell words from each other, so single letters are sought, and what only looks like a negation (`不同`
different, `非常` very, `だけでなく` not only) is named. Where this errs, an honest quote that begins or ends within a
clause is refused; one that is a whole clause never is.
"""

import re

from assayer.text.scripts import UNSPACED

__all__ = ["negation_after", "negation_before", "negation_within"]

REACH = 12
"""Letters of the clause before a quote in which a negation counts: about six words."""
REACH_OF_CLAIMS = 24
"""The same before what introduces a claim: there is no evidence that …"""
REACH_AHEAD = 16
"""Letters after a quote, in its clause."""

_CLAUSE_END = re.compile(r"[，,;；:：。!！?？、\n]|但是?|然而|而且|しかし|แต่")
_ANY = re.compile(f"[{UNSPACED}\uac00-\ud7a3]")
_NEGATION = re.compile(
    r"不(?![同仅僅但断斷过過只管论論少久])|(?<!沉)[没沒](?!收)|[无無](?![论論线線])|未(?![来來])|[非](?![常洲线線])|[别別](?=再|被)"
    r"|[难難]以|缺乏|缺少|否[认認定]|是否|[怀懷]疑|拒[绝絕]|反[对對]|ไม่(?!เพียง)|มิได้|ไร้|ปราศจาก|ห้าม"
)
_CLAIM = re.compile(r"(?:表明|[说說]明|[显顯]示|[认認][为為]|[证證]明|[证證][实實]|支持|ว่า)$")
_AFTER = re.compile(
    r"(?<!だけで)(?<!だけでは)(?<!のみで)(?<!のみでは)(?:ない|なかった|なく|なけれ|なさそう)|ません|[ずぬ](?:[、。にと]|$)|[无無]い|困[难難]|とは限ら|か否か|かどうか"
    r"|不(?![同仅僅但断斷过過只管论論少久])|[没沒](?!收)|未(?![来來])|被?(?:否定|推翻|[驳駁]斥|反[驳駁])|[错錯][误誤]|存疑"
    r"|ไม่(?!เพียง)|มิได้|เท็จ|않|없|못|아니"
)


def negation_before(before: str) -> str | None:
    """Of the clause that leads up to a quote."""
    clause = _CLAUSE_END.split(before.rstrip())[-1]
    if not _ANY.search(clause):
        return None
    near = clause[-(REACH_OF_CLAIMS if _CLAIM.search(clause) else REACH) :]
    return _told(_NEGATION.search(near))


def negation_after(rest: str) -> str | None:
    """Of the clause that goes on after a quote: verbs of Japanese and Korean are negated behind."""
    clause = _CLAUSE_END.split(rest, maxsplit=1)[0][:REACH_AHEAD]
    return _told(_AFTER.search(clause)) if _ANY.search(clause) else None


def negation_within(left_out: str) -> str | None:
    """Of what an ellipsis leaves out."""
    return _told(_NEGATION.search(left_out) or (_AFTER.search(left_out) if _ANY.search(left_out) else None))


def _told(found: re.Match[str] | None) -> str | None:
    return found[0] if found else None
