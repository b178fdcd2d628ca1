"""`/`: the console. It holds no data: its script asks the API with the key that its reader enters."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from orchestrator.api.pages import console_page

__all__ = ["router"]

router = APIRouter(tags=["pages"], include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
async def console() -> HTMLResponse:
    page = console_page()
    headers = {
        "Content-Security-Policy": page.policy,
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return HTMLResponse(page.html, headers=headers)
