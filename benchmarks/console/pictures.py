"""Screenshots of pages, small enough for the documentation."""

import asyncio
import io
from pathlib import Path

from PIL import Image
from playwright.async_api import Page

_QUALITY = 60


async def save_screenshot(page: Page, path: Path) -> None:
    """Save a screenshot of the page's visible area."""
    screenshot = await page.screenshot()
    await asyncio.to_thread(_save_compressed, screenshot, path)


def _save_compressed(screenshot: bytes, path: Path) -> None:
    with Image.open(io.BytesIO(screenshot)) as image:
        image.convert("RGB").save(path, "WEBP", quality=_QUALITY, method=6)
