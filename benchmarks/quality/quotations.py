"""Checks whether a quote occurs in its source: independent of the program's own check, and equally strict.

Only the standard library is used. Words, numbers and signs are compared one by one as tokens.
"""

import html
import re
import unicodedata

ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.|\b(?:dx\.)?doi\.org/|\bdoi:\s*)[^\s)\]>]+", re.IGNORECASE)
LINK_TAKEN_OUT = "(link removed)"
LINK_WORD = " linktakenout "

SHORTEST_QUOTE = 12
"""Minimum number of letters and digits."""
WORDS_PER_SLIP = 8
"""One word in this many may be spelled slightly differently from the source."""
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces: each letter is a token."""
VOWELS = "".join(
    chr(code)
    for code in (*range(0x900, 0x1AB0), *range(0xA800, 0xAC00))
    if unicodedata.category(chr(code)) in {"Mn", "Mc"}
)
"""Marks that are part of a word, like letters."""
TOKEN = re.compile(
    rf"(?:(?![\d{VOWELS}])[{UNSPACED}]|(?<=[\d{UNSPACED}])[{VOWELS}])[{VOWELS}]*"
    rf"|(?![{UNSPACED}])[^\W_](?:(?![{UNSPACED}])(?:[^\W_]|[{VOWELS}]))*"
    rf"(?:(?:(?<=\d)[.,](?=\d)|['-])(?:(?![{UNSPACED}])(?:[^\W_]|[{VOWELS}]))+)*"
    r"|[<>=≤≥≠≈≪≫±%‰]|\+(?=\.?\d)|(?<![^\W_])-(?=\.?\d)|\.(?=\d)"
)
"""A word or number with the hyphens, apostrophes and points inside it, or a sign that changes what a number says."""
SIGNS_BEFORE_NUMBERS = set("<>≤≥≠≈≪≫±+-.")
NEGATIONS = set("no not non nor none never neither nobody nothing nowhere without cannot".split())  # noqa: SIM905
PREFIX = re.compile(r"\b(non|un|in|im|il|ir|dis|anti|mis)-\s+(?=[a-z])")
ELLIPSIS = re.compile(r"[\[(]?\s*(?:…|\.\s?\.\s?\.)\s*[\])]?")
ELIDED = re.compile(
    r"\b((?:qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|un|dell|all|nell|sull|dall|coll|quell|quest|bell|sant|anch|com|gl)|[ldjmtsc])'"
    r"(?=[^\W\d_])"
)
"""Elided articles before a vowel, which are separate words."""
FIGURE = "0-9〇零一二三四五六七八九十百千万萬億亿兆两兩"
IN_FIGURE = re.compile(
    rf"[{FIGURE}点點之负負]\n[{FIGURE}]|[{FIGURE}]\n(?:[点點倍成割多余餘半]|分)|[至到らスบง]\n[0-9]|分\n之"
)
"""Places where a cut would leave a different number."""
PLAIN = str.maketrans("‘’ʼ`´‐‑‒–−", "'" * 5 + "-" * 5, "\xad\u200b\u200c\u200d\u2060\ufeff")
SPELLINGS = [
    (r"(?<=\w[iy])s(?=(e[drs]?|ers|ing|ations?|able)$)", "z"),
    (r"(?<=\w\w)our", "or"),
    (r"([bt])re(s?)$", r"\1er\2"),
    (r"([bt])red$", r"\1ered"),
    (r"ell(?=(ed|ing|ers?)$)", "el"),
    (r"[ao]e", "e"),
    (r"ogue", "og"),
    (r"ence(?=s?$)", "ense"),
    (r"sulph", "sulf"),
    (r"gramme", "gram"),
    (r"dgement", "dgment"),
]
SCANNED = [("rn", "m"), ("cl", "d"), ("vv", "w"), ("l", "i"), ("c", "e"), ("n", "u")]


def occurs_in(quote: str, text: str) -> bool:
    """Return whether the words, numbers and signs of a quote occur in a text in order and in one place, or in several
    if the quote has an ellipsis. Where an address was removed from the quote, the text must have one."""
    if LINK_TAKEN_OUT in quote:
        quote = ADDRESS.sub(LINK_WORD, quote.replace(LINK_TAKEN_OUT, LINK_WORD))
        text = ADDRESS.sub(LINK_WORD, text)
    source, quote_tokens = _split_tokens(text), _split_tokens(quote)
    if _count_letters(quote_tokens) < SHORTEST_QUOTE:
        return False
    if _find(quote_tokens, source, 0, 0):
        return True
    position = 0
    for number, piece in enumerate(filter(None, map(_split_tokens, ELLIPSIS.split(quote)))):
        token_range = _find(piece, source, position, len(piece) // WORDS_PER_SLIP)
        if token_range is None or _count_letters(piece) < SHORTEST_QUOTE:
            return False
        left_out = source[position : token_range[0]]
        if number and not NEGATIONS.isdisjoint(left_out[:3] + left_out[-3:]):
            return False
        position = token_range[1]
    return position > 0


def _count_letters(tokens: list[str]) -> int:
    return sum(character.isalnum() for token in tokens for character in token)


def _split_tokens(text: str) -> list[str]:
    """Return words without hyphens and apostrophes (`out-of-domain` is one word), numbers with their points, and
    signs."""
    text = text.replace("´", "'")
    text = re.sub(r"(?<=\d)([²³¹⁰⁴-⁹⁻₀-₉¼-¾])", r" \1", html.unescape(text))
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub(r"−\s?(?=\.?\d)", "−", text).translate(PLAIN)
    for written, sign in (("<=", "≤"), (">=", "≥"), ("+/-", "±"), ("∼", "≈"), ("**", "")):
        text = text.replace(written, sign)
    text = ELIDED.sub(r"\1 ", re.sub(r"(?<=\d)[~〜](?=\d)", "-", text))
    text = re.sub(r"(?<=\d)--(?=\d)", "-", PREFIX.sub(r"\1-", text))
    text = re.sub(r"(?<=\d)·(?=\d)", ".", re.sub(r"(?<![\w.])\.(?=\d)", "0.", text))
    return [re.sub(r"'|-(?=[^\W\d])", "", token) for token in TOKEN.findall(text)]


def _find(quote: list[str], source: list[str], first_start: int, slips: int) -> tuple[int, int] | None:
    """Return the range of the source's tokens that the quote covers, or None."""
    letters = "".join(quote)
    for start in range(first_start, len(source)):
        if source[start] and (slips or letters.startswith(source[start]) or source[start].startswith(quote[0])):
            end = _follow(quote, source, start, slips)
            if end is not None and not _is_cut(quote, source, start, end):
                return start, end
    return None


def _follow(quote: list[str], source: list[str], start: int, slips: int) -> int | None:
    """Return where the quote ends in the source if it begins at `start`, or None."""
    position, index = start, 0
    while index < len(quote):
        if position >= len(source):
            return None
        if quote[index] == source[position]:
            index, position = index + 1, position + 1
            continue
        joined_counts = _match_joined(quote[index : index + 4], source[position : position + 4])
        if joined_counts is None:
            if slips == 0 or not _is_respelled(quote[index], source[position]):
                return None
            joined_counts, slips = (1, 1), slips - 1
        index, position = index + joined_counts[0], position + joined_counts[1]
    return position


def _match_joined(quote_tokens: list[str], source_tokens: list[str]) -> tuple[int, int] | None:
    """Return how many tokens of each side make up the same letters, or None.

    Matches `agree ment` and `agreement`, `not so good` and `not-so-good`; does not match `not able` and `notable`."""
    for left in range(1, len(quote_tokens) + 1):
        for right in range(1, len(source_tokens) + 1):
            tokens_used = quote_tokens[:left] + source_tokens[:right]
            is_same_text = "".join(quote_tokens[:left]) == "".join(source_tokens[:right])
            is_hyphenated = (len(tokens_used) > 3 and min(left, right) == 1) or "non" in {
                tokens_used[0],
                tokens_used[left],
            }
            is_safe = is_hyphenated or NEGATIONS.isdisjoint(tokens_used)
            if is_same_text and is_safe and all(token.isalpha() for token in tokens_used):
                return left, right
    return None


def _is_cut(quote: list[str], source: list[str], start: int, end: int) -> bool:
    """Return whether a number at either end of the quote has lost a sign or a part."""
    token_before, token_after = source[start - 1] if start else "", source[end] if end < len(source) else ""
    has_leading_digit, has_trailing_digit = quote[0][0].isdigit(), quote[-1][-1].isdigit()
    if IN_FIGURE.search(f"{token_before[-1:]}\n{quote[0]}") or IN_FIGURE.search(f"{quote[-1]}\n{token_after}"):
        return True
    if has_trailing_digit and re.match(f"[{UNSPACED}]", token_after):
        return True
    return (has_leading_digit and token_before in SIGNS_BEFORE_NUMBERS) or (
        has_trailing_digit and token_after in {"%", "‰"}
    )


def _is_respelled(text: str, other_text: str) -> bool:
    """Return whether two words differ only in British and American spelling, or by a scanning or typing error."""
    if not (text.isalpha() and other_text.isalpha()) or min(len(text), len(other_text)) < 5:
        return False
    is_alike = (text[:2], text[-2:]) == (other_text[:2], other_text[-2:]) and min(len(text), len(other_text)) >= 8
    return _convert_to_american(text) == _convert_to_american(other_text) or (is_alike and _is_slip(text, other_text))


def _is_slip(text: str, other_text: str) -> bool:
    doubled = re.compile(r"(.)\1")
    if doubled.sub(r"\1", text) == doubled.sub(r"\1", other_text) or any(
        text.replace(seen, printed) == other_text.replace(seen, printed) for seen, printed in SCANNED
    ):
        return True
    short, long = sorted((text, other_text), key=len)
    if len(short) < 10:
        return False
    if len(short) == len(long):
        swapped_texts = (short[:i] + short[i + 1] + short[i] + short[i + 2 :] for i in range(len(short) - 1))
        return long in swapped_texts
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _convert_to_american(word: str) -> str:
    for british, american in SPELLINGS:
        word = re.sub(british, american, word)
    return word
