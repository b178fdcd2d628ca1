"""Styles whose notation only looks as if it hides text leave the text in its place."""

import pytest

from tests.unit.hidden_html import split_visible_and_hidden

VISIBLE_STYLES = (
    "zoom:0.8",
    "rotate:x 20deg",
    "rotate:90deg",
    "zoom:normal",
    "zoom:150%",
    "color:hsl(0 0% 20%)",
    "--c:black;color:var(--c)",
    "color:var(--none, #333)",
    "color:var(--none)",
    "color:lab(20 0 0)",
    "opacity:calc(1 - 0.5)",
    "font-size:clamp(14px, 2vw, 20px)",
    "font-size:calc(1rem + 1vw)",
    "filter:blur(1px) drop-shadow(0 0 2px black)",
    "transform:translate(-50%, -50%)",
    "transform:rotate(90deg)",
    "transform:rotate(180deg) scaleX(-1)",
    "transform:none",
    "scale:1.1",
    "translate:-50% -50%",
    "translate:-20px 4px",
    "margin:0 auto",
    "margin:-10px -20px",
    "position:absolute;inset:0",
    "letter-spacing:-0.02em",
    "letter-spacing:0.2em",
    "line-height:1;overflow:hidden",
    "line-height:1.5;overflow:hidden",
    "height:auto;overflow:hidden",
    "max-height:none;overflow:hidden",
    "clip-path:inset(0 10% 0 10%)",
    "clip-path:circle(50%)",
    "clip-path:polygon(0 0, 100% 0, 100% 100%)",
    "clip:auto",
    "mask-image:linear-gradient(black, transparent)",
    "mask:url(shape.svg)",
    "background:linear-gradient(#eee, #fff)",
    "background:linear-gradient(#000, #fff);color:white",
    "mix-blend-mode:multiply",
    "animation:shown 1s",
    "zoom:90%",
    "font:12px/1.4 serif",
    "font:inherit",
    "color:currentcolor",
    "color:canvastext",
    "color:light-dark(black, white)",
    "color:color-mix(in srgb, black 80%, white)",
    "all:unset",
    "--unused:none",
    "width:min(100%, 60ch)",
    "opacity:calc(1 / 0)",
    "font-size:calc(((((((((1em)))))))))",
)


@pytest.mark.parametrize("style", VISIBLE_STYLES)
def test_text_with_harmless_style_is_kept(style: str) -> None:
    sheet = "<style>@keyframes shown { from { opacity: 0 } to { opacity: 1 } }</style>"
    assert split_visible_and_hidden(f'before <span style="{style}">words</span> after', sheet) == (
        "before words after",
        [],
    )


@pytest.mark.parametrize(
    "sheet",
    [
        "@media (min-width:2000px){.x{display:none}}",
        "@media (width < 600px){.x{display:none}}",
        "@media (600px > width > 10px){.x{display:none}}",
        "@media (prefers-color-scheme:dark){.x{color:#fff}}",
        "@media (hover:none){.x{display:none}}",
        "@media (unheard-of:1){.x{display:none}}",
        "@media not screen{.x{display:none}}",
        ".z{& .x{display:none}}",
        "@supports (a:b){.z{.x{display:none}}}",
        ":root{--a:block}.x{display:var(--a)}",
    ],
)
def test_inapplicable_style_rules_hide_no_text(sheet: str) -> None:
    body = '<div class="y"><p>before <span class="x">words</span> after</p></div>'
    assert split_visible_and_hidden(body, f"<style>{sheet}</style>") == ("before words after", [])
