"""A person who works with the keyboard alone, and where the focus is after each key."""

from typing import NamedTuple

from playwright.async_api import Page

_MAX_STOPS = 150
_STOP = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  const box = [...one.getClientRects()].find(rect => rect.width && rect.height);
  if (!box) return {place: "", name: one.outerHTML.slice(0, 200), fault: "has no size"};
  const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  const over = right > left && bottom > top ? document.elementFromPoint((left + right) / 2, (top + bottom) / 2) : null;
  const outlined = one.matches(":focus-visible") && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const named = one.labels?.length ? one.labels[0] : one;
  return {
    place: [...document.querySelectorAll("*")].indexOf(one).toString(),
    name: `${one.tagName.toLowerCase()} ${named.ariaLabel || named.innerText || one.name || ""}`.trim().slice(0, 80),
    fault: !outlined ? "shows no focus" : !over ? "is out of sight"
      : one.contains(over) || over.contains(one) ? "" : `is covered by ${over.outerHTML.slice(0, 80)}`,
  };
}"""
"""JavaScript that returns where the focus is, what the element is called and whether its focus can be seen; null if
nothing has the focus."""


class Stop(NamedTuple):
    place: str
    """Number of the element in the document."""
    name: str


class Keyboard:
    """Keys of a person who cannot use a mouse. Each stop of the focus must be visible."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, *keys: str) -> Stop | None:
        """Press keys one after another, and return where the focus is then; None if nothing has it."""
        for key in keys:
            await self.page.keyboard.press(key)
        stop = await self.page.evaluate(_STOP)
        if stop is None:
            return None
        assert not stop["fault"], f"{stop['name']} {stop['fault']} on {self.page.url}"
        return Stop(stop["place"], stop["name"])

    async def move_to(self, name: str, key: str = "Tab") -> None:
        """Press Tab, or another `key`, until the element whose label or text begins with `name` has the focus."""
        passed_names = []
        for _ in range(_MAX_STOPS):
            stop = await self.press(key)
            passed_names.append(stop.name.partition(" ")[2] if stop else "")
            if passed_names[-1].startswith(name):
                return
        raise AssertionError(f"“{name}” was not reached on {self.page.url}: {passed_names}")

    async def open(self, name: str, key: str = "Tab") -> None:
        """Go to a link or button and press Enter; the page that it leads to is open afterwards."""
        await self.move_to(name, key)
        async with self.page.expect_navigation():
            await self.page.keyboard.press("Enter")

    async def unfold(self, name: str) -> None:
        """Go to what unfolds and press Enter."""
        await self.move_to(name)
        await self.press("Enter")

    async def choose(self, score: int) -> None:
        """Go to the next group of scores, choose the lowest with Space, and from there `score` with the arrow keys."""
        await self.move_to("1")
        stop = await self.press("Space", *["ArrowRight"] * (score - 1))
        assert stop is not None
        assert stop.name == f"input {score}"

    async def type(self, label: str, text: str) -> None:
        """Go to a field and type into it."""
        await self.move_to(label)
        await self.page.keyboard.type(text)

    async def walk(self) -> list[Stop]:
        """Tab from the beginning of the page to its end and back. Returns the stops, each of which was passed once in
        both directions: nothing holds the focus."""
        await self.page.evaluate("document.activeElement?.blur()")
        await self.page.reload()
        await self.page.evaluate("document.activeElement?.blur()")
        forward_stops = await self._walk_to_end("Tab")
        backward_stops = await self._walk_to_end("Shift+Tab")
        assert [stop.place for stop in reversed(backward_stops)] == [stop.place for stop in forward_stops], (
            self.page.url
        )
        return forward_stops

    async def _walk_to_end(self, key: str) -> list[Stop]:
        stops: list[Stop] = []
        while (stop := await self.press(key)) is not None and (not stops or stop.place != stops[0].place):
            assert stop.place not in {passed.place for passed in stops}, f"{stop.name} is passed twice"
            assert len(stops) < _MAX_STOPS, stops
            stops.append(stop)
        return stops
