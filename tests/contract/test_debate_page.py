"""The page of a debate in a real browser: quiet, readable in both schemes, no wider than the screen."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from assayer.errors import AssayerError, LlmError
from assayer.methods.debate.composition import get_composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.reports.debate_page import render_debate_html
from assayer_client.rewards import Reward
from tests.contract.page_contrast import POOR_CONTRASTS
from tests.unit.debate_answers import ITEM, ScriptedSeats
from tests.unit.twins import make_run

WIDE = ITEM.model_copy(update={"idea": f"{ITEM.idea}\n\nAs at https://example.org/{'a' * 300}."})


@pytest.fixture(scope="module")
def html() -> str:
    lost: AssayerError = LlmError("The endpoint is down.")
    seats = ScriptedSeats({("critic", 1): "nn"}, {("analyst", 2, 1): lost})

    async def judge() -> Reward:
        return await judge_by_debate(
            WIDE, get_composition("moderator-two-analysts-critic-evaluator"), seats, make_run()
        )

    with ThreadPoolExecutor(1) as thread:  # Playwright's own loop runs in this one
        return render_debate_html(WIDE, thread.submit(lambda: asyncio.run(judge())).result())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_debate_page_is_readable_at_every_width_and_color_scheme(
    browser: Browser, tmp_path: Path, html: str, scheme: str
) -> None:
    file = tmp_path / "debate.html"
    file.write_text(html, encoding="utf-8")
    complaints: list[str] = []
    requests: list[str] = []
    page = browser.new_context(color_scheme="dark" if scheme == "dark" else "light").new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    assert (complaints, requests) == ([], [file.as_uri()])
    assert page.evaluate(POOR_CONTRASTS) == []
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("(s => s.scrollWidth <= s.clientWidth)(document.querySelector('.scroll'))"), width
    tops = page.evaluate("[...document.querySelectorAll('.turn')].map(turn => turn.getBoundingClientRect().top)")
    assert tops == sorted(set(tops)), "turns are not one below the other in the order in which they were spoken"
    page.context.close()
