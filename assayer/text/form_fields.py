"""Remove what a form prints around a proposal: prompts in empty fields, options that were not ticked, and the tags of
the European Commission's forms."""

import re
from collections.abc import Iterable, Iterator

from assayer.models import UnreadPart

UNTICKED = "\ue0f0"
"""Box of an option that a file format marks as not ticked. A printed box may also be a bullet."""
EMPTY_FIELD = "only the prompt of the form is in it"
_COUNTED = ((EMPTY_FIELD, "empty field"), ("not chosen in the form", "unticked option"))
_BOX, _TICKED_BOX = "☐□❏❑\uf0a8\uf06f\uf071", "☒☑■🗹✅\uf0fe\uf0fd\uf078"
_BOXES = re.compile(f"[{UNTICKED}{_BOX}{_TICKED_BOX}]")
_TICKED = re.compile(f"[{_TICKED_BOX}]")
_BOX_AT_END = re.compile(f"[{UNTICKED}{_BOX}{_TICKED_BOX}]\\s*$")
_WORD = re.compile(r"\w")
_TAG = re.compile(r"#[@§][A-Z][A-Z0-9-]{1,60}[@§]#")
_PROMPT = re.compile(
    r"(?:click(?: or tap)?(?: here)? to (?:enter|add|insert|edit) (?:text|a date|your \w{2,20}|title|name)|"
    r"click or tap (?:here )?to enter (?:text|a date)|choose (?:an item|a building block|a date)|"
    r"select (?:an item|a date)|klicken (?:oder tippen )?sie(?: hier)?, um (?:text|ein datum) einzugeben|"
    r"(?:wählen sie ein element aus|wählen sie ein datum aus)|cliquez(?: ou appuyez)? ici pour (?:entrer|taper) "
    r"(?:du texte|une date)|choisissez un élément|haga clic(?: o pulse)? aquí para escribir (?:texto|una fecha)|"
    r"elija un elemento|fare clic(?: o toccare)? qui per immettere (?:il )?testo|scegliere un elemento|"
    r"clique(?: ou toque)? aqui para (?:introduzir|inserir) (?:o )?texto|escolha um item|"
    r"klik(?: of tik)? om tekst in te voeren|klicka eller tryck här för att ange text|"
    r"klikk eller trykk her for å skrive inn tekst|"
    r"kliknij lub naciśnij tutaj, aby wprowadzić tekst|单击或点击此处输入文字|单击此处输入文字)[.。]?",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"[\[<{«](?:please )?(?:insert|enter|type|add|describe|fill in|delete|remove|provide|write|state|specify)\b"
    r"[^\[\]<>{}\n]{0,200}[\]>}»]",
    re.IGNORECASE,
)
_CELLS = re.compile(r"(\s\|\s|\|)")
_EMPTY_CELLS = re.compile(r"\|\s+(?=\|)")
_LABELLED = re.compile(r"(?P<label>[\s*•–-]{0,6}(?:[^:|.]{1,80}:\s+)?)(?P<value>.*?)\s*$")


def remove_form_fields(text: str) -> tuple[str, tuple[UnreadPart, ...]]:
    """Return the text without prompts, unticked options and tags of a form, and what was left out."""
    prompts = options = 0
    is_form = _TICKED.search(text) is not None
    lines: list[str] = []
    for line in text.split("\n"):
        bare = _TAG.sub("", line) if "#" in line else line
        bare, count = _remove_prompts(bare)
        prompts += count
        if UNTICKED in bare or (_BOXES.search(bare) and (is_form or len(_BOXES.findall(bare)) > 1)):
            bare, count = _remove_options(bare)
            options += count
        if bare.strip(" |\t*•–-") or not line.strip() or bare == line:
            lines.append(bare)
    if not prompts and not options:
        return (text if len(lines) == text.count("\n") + 1 and "#" not in text else "\n".join(lines)), ()
    return "\n".join(lines), tuple(_left_out(prompts, options))


def _left_out(prompts: int, options: int) -> Iterator[UnreadPart]:
    for count, (reason, what) in zip((prompts, options), _COUNTED, strict=True):
        if count:
            yield _count(count, what, reason)


def _count(count: int, what: str, reason: str) -> UnreadPart:
    return UnreadPart(part=f"{count} {what}{'s' * (count > 1)}", reason=reason)


def merge_left_out(parts: Iterable[UnreadPart]) -> tuple[UnreadPart, ...]:
    """Return the remarks, with one for all empty fields and one for all unticked options."""
    counts = {reason: 0 for reason, _ in _COUNTED}
    others: list[UnreadPart] = []
    for part in parts:
        number = part.part.partition(" ")[0]
        if part.reason in counts and number.isdecimal():
            counts[part.reason] += int(number)
        else:
            others.append(part)
    return (*others, *(_count(counts[reason], what, reason) for reason, what in _COUNTED if counts[reason]))


def _remove_prompts(line: str) -> tuple[str, int]:
    """Return a line without its prompts, and their number. A prompt counts only if it fills the line, a table cell, or
    the rest of either after a label."""
    if not _PROMPT.search(line) and not _BRACKETED.search(line):
        return line, 0
    count = 0
    cells = _CELLS.split(line)
    for index, cell in enumerate(cells):
        match = _LABELLED.match(cell)
        if match and (_PROMPT.fullmatch(match["value"]) or _BRACKETED.fullmatch(match["value"])):
            cells[index] = match["label"]
            count += 1
    return ("".join(cells).rstrip(" |") if count else line), count


def _remove_options(line: str) -> tuple[str, int]:
    """Return a line without its unticked options, and their number. Labels follow their boxes, or come before them if
    the line ends in a box. Words before the first box stay."""
    count = 0
    written: list[str] = []
    for cell in _CELLS.split(line):
        boxes = list(_BOXES.finditer(cell))
        if not boxes:
            written.append(cell)
            continue
        first = boxes[0].start()
        if _BOX_AT_END.search(cell) and _WORD.search(cell[:first]):
            starts = [0, *(box.end() for box in boxes[:-1])]
            pieces = [(box[0], cell[start : box.end()]) for start, box in zip(starts, boxes, strict=True)]
            before = ""
        else:
            ends = [*(box.start() for box in boxes[1:]), len(cell)]
            pieces = [(box[0], cell[box.start() : end]) for box, end in zip(boxes, ends, strict=True)]
            before = cell[:first]
        count += sum(box not in _TICKED_BOX for box, _ in pieces)
        written.append(before + "".join(piece for box, piece in pieces if box in _TICKED_BOX))
    return _EMPTY_CELLS.sub("", "".join(written)).rstrip(" |"), count
