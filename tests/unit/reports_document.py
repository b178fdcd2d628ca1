"""HTML as the tests look at it, parsed by the standard library."""

from collections import Counter
from html.parser import HTMLParser

_VOID = {"meta", "br", "hr", "img", "link", "input"}


def collapse_spaces(text: str) -> str:
    """Replace every run of white space by one space."""
    return " ".join(text.split())


class Document(HTMLParser):
    """Elements, links and text of a page; raises AssertionError when elements do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[str] = []
        self.style = ""
        self.meta: dict[str, str] = {}
        self._open: list[str] = []
        self._text: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    @property
    def text(self) -> str:
        return collapse_spaces("".join(self._text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.attributes.update(attributes.keys())
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "meta":
            self.meta[attributes.get("http-equiv", attributes.get("name", ""))] = attributes.get("content", "")
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append("")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}> at {self.getpos()}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            self.style += data
            return
        self._text.append(data)
        if any(tag in {"h1", "h2", "h3", "h4", "h5", "h6"} for tag in self._open):
            self.headings[-1] += data
