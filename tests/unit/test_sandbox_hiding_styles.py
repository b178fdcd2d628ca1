"""Ways to hide text from the readers of a page that only CSS as browsers know it sees through."""

import pytest

from tests.unit.test_sandbox_hidden_html_text import seen

KEYFRAMES = "<style>@keyframes gone { from { opacity: 1 } to { opacity: 0 } }</style>"
HIDING = (
    "color:hsl(0 0% 100%)",
    "color:hsla(0,0%,100%,1)",
    "color:hwb(0 100% 0%)",
    "color:lab(100 0 0)",
    "color:oklch(1 0 0)",
    "color:color(srgb 1 1 1)",
    "color:color-mix(in srgb, white, white)",
    "color:rgb(100% 100% 100% / 1)",
    "color:rgb(0 0 0 / 0)",
    "--c:white;color:var(--c)",
    "color:var(--none, white)",
    "opacity:calc(0)",
    "opacity:calc(1 - 1)",
    "font-size:calc(0px)",
    "font-size:calc(1px / 100)",
    "font-size:min(0px, 1em)",
    "font-size:clamp(0px, 0px, 1px)",
    "font-size:0.01vw",
    "font-size:0.001q",
    "filter:opacity(0)",
    "filter:opacity(1%)",
    "filter:blur(50px)",
    "zoom:0",
    "zoom:0.05",
    "rotate:x 90deg",
    "rotate:y 0.25turn",
    "zoom:4%;font-size:30px",
    "scale:0",
    "scale:0 1",
    "translate:-9999px",
    "translate:-9999px 0",
    "transform:matrix(0, 0, 0, 0, 0, 0)",
    "transform:matrix(1,0,0,1,-9999,0)",
    "transform:rotateX(90deg)",
    "transform:rotateY(0.25turn)",
    "transform:scale3d(0, 0, 0)",
    "transform:translate3d(-9999px, 0, 0)",
    "transform:translate(-9999px)",
    "transform:perspective(1px) scale(0.0001)",
    "inset:0 auto auto -9999px;position:absolute",
    "inset-inline-start:-9999px;position:absolute",
    "margin:0 0 0 -9999px",
    "margin-inline-start:-9999px",
    "margin-top:calc(-100 * 1em)",
    "position:absolute;left:99999px",
    "letter-spacing:-1em",
    "clip-path:circle(0)",
    "clip-path:circle(0px at 50% 50%)",
    "clip-path:polygon(0 0, 0 0, 0 0)",
    "clip-path:inset(0 100% 0 0)",
    "clip-path:ellipse(0 0)",
    "mask:linear-gradient(transparent, transparent)",
    "mask-image:linear-gradient(transparent, transparent)",
    "-webkit-mask:linear-gradient(#0000,#0000)",
    "block-size:0;overflow:clip",
    "max-block-size:0;overflow:hidden",
    "inline-size:0;overflow:hidden",
    "height:calc(0px);overflow:hidden",
    "line-height:0;overflow:hidden",
    "background-image:linear-gradient(white, white);color:white",
    "background:linear-gradient(#000,#000)",
    "mix-blend-mode:screen",
    "mix-blend-mode:lighten",
    "-webkit-text-security:disc;-webkit-text-fill-color:transparent",
    "-webkit-text-security:disc",
    "content-visibility:hidden",
    "animation:gone 0s forwards",
    "display:var(--gone,none)",
    "all:initial;display:none",
    "text-indent:calc(-1 * 9999px)",
    "text-indent:-100vw",
    "text-indent:-1000%;overflow:hidden",
    "font:1px/1 serif",
    "font:italic bold 0.1px serif",
    "font-size:1px",
    "font-size:1e-3px",
    "font-size:1E0px",
    "opacity:1e-9",
    "color:#ffff",
    "color:#fffffffe",
    "color:WHITE",
    "color:currentcolor;background:black",
    "color:canvas",
    "background-color:canvastext",
    "color:light-dark(white, black)",
    "position:absolute;clip:rect(0 0 0 0)",
    "clip:rect(0px,0px,0px,0px);position:absolute",
    "visibility:hidden",
    "interpolate-size:allow-keywords;height:0;overflow-y:hidden",
    "max-width:0;overflow-x:hidden;white-space:nowrap",
    "clip-path:path('M0 0')",
)
SHEETS = (
    "@media (min-width:1px){.x{display:none}}",
    "@media (width >= 1px){.x{display:none}}",
    "@media screen and (min-width:10px){.x{display:none}}",
    "@media not print{.x{display:none}}",
    "p{& .x{display:none}} .y{.x{display:none}}",
    ":is(.x){display:none}",
    ":where(.x){display:none}",
    "span:not(.z){display:none}",
    "@layer a{.x{display:none}}",
    "@container (min-width:1px){.x{display:none}}",
    "@scope (body){.x{display:none}}",
    "@media (prefers-color-scheme:light){.x{display:none}}",
    "[class^=x]{display:none}",
    ".y span:nth-child(1){display:none}",
    "body:has(.x) .x{display:none}",
    ":root{--a:none}.x{display:var(--a)}",
    ".\\78 {display:none}",
    ".x{color:red;color:white}",
    ".x{dis/**/play:none;display/**/:none}",
    "html .x{display:none!important}",
)
SHOWN = (
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


@pytest.mark.parametrize("style", HIDING)
def test_every_notation_of_a_hiding_style_is_understood(style: str) -> None:
    text, hidden = seen(f'before <span style="{style}">secret words</span> after', KEYFRAMES)
    assert (text, [one.text for one in hidden]) == ("before after", ["secret words"])


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_rule_that_a_browser_would_follow_is_followed(sheet: str) -> None:
    body = '<div class="y"><p>before <span class="x">secret words</span> after</p></div>'
    text, hidden = seen(body, f"<style>{sheet}</style>")
    assert (text, [one.text for one in hidden]) == ("before after", ["secret words"])


@pytest.mark.parametrize("style", SHOWN)
def test_text_whose_style_shows_it_stays(style: str) -> None:
    sheet = "<style>@keyframes shown { from { opacity: 0 } to { opacity: 1 } }</style>"
    assert seen(f'before <span style="{style}">words</span> after', sheet) == ("before words after", [])


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
def test_rules_that_do_not_hold_hide_nothing(sheet: str) -> None:
    body = '<div class="y"><p>before <span class="x">words</span> after</p></div>'
    assert seen(body, f"<style>{sheet}</style>") == ("before words after", [])


def test_variables_are_inherited_and_overridden_below() -> None:
    sheet = "<style>:root{--c:#fff} .dark{--c:#111} p{color:var(--c)}</style>"
    text, hidden = seen('<p>secret</p><div class="dark"><p>words</p></div>', sheet)
    assert (text, [one.text for one in hidden]) == ("words", ["secret"])


def test_opacities_of_elements_around_multiply() -> None:
    text, _ = seen("<div style='opacity:.2'>words <p style='filter:opacity(20%)'>secret</p></div>")
    assert text == "words"


def test_variables_that_name_each_other_end() -> None:
    sheet = "<style>:root{--a:var(--b);--b:var(--a)} p{display:var(--a)}</style>"
    assert seen("<p>words</p>", sheet) == ("words", [])


def test_variables_that_double_each_other_stay_small() -> None:
    doubled = "".join(f"--v{number}:var(--v{number + 1}) var(--v{number + 1});" for number in range(40))
    assert seen("<p>words</p>", f"<style>:root{{{doubled}--v40:x}} p{{display:var(--v0)}}</style>") == ("words", [])


@pytest.mark.parametrize("style", ["color:rgb(0 0 0 / {})", "font-size:{}px", "clip-path:inset({}px)", "margin:{}px"])
def test_number_without_end_breaks_no_parser(style: str) -> None:
    text, _ = seen(
        f'<p>Seen.</p><p style="{style.format("9" * 10_000)}">Read or not.</p>',
        f"<style>p{{top:{'1' * 9_999}px}}</style>",
    )
    assert "Seen." in text
