"""Screenshots of pages, small enough for the documentation."""

import asyncio
import io
from pathlib import Path

from PIL import Image
from playwright.async_api import Page

_QUALITY = 60


async def picture(page: Page, path: Path) -> None:
    """Save a screenshot of the page's visible area."""
    shot = await page.screenshot()
    await asyncio.to_thread(_save, shot, path)


def _save(shot: bytes, path: Path) -> None:
    with Image.open(io.BytesIO(shot)) as image:
        image.convert("RGB").save(path, "WEBP", quality=_QUALITY, method=6)
