"""Ways of hiding text in a web page from its readers, and honest ways that resemble them."""

from collections.abc import Mapping


def _format_style(style: str) -> str:
    return f'<p style="{style}">{{text}}</p>'


HTML_WAYS: Mapping[str, str] = {
    "not displayed": _format_style("display:none"),
    "invisible": _format_style("visibility:hidden"),
    "opacity 0": _format_style("opacity:0"),
    "filter": _format_style("filter:opacity(0)"),
    "white on white": _format_style("color:#fff"),
    "white as hsl": _format_style("color:hsl(0 0% 100%)"),
    "white by a variable": '<div style="--a:white"><p style="color:var(--a)">{text}</p></div>',
    "transparent": _format_style("color:transparent"),
    "size 0": _format_style("font-size:0"),
    "one pixel": _format_style("font-size:1px"),
    "off the screen": _format_style("position:absolute;left:-9999px"),
    "indented away": _format_style("text-indent:-9999px"),
    "scaled to nothing": _format_style("transform:scale(0)"),
    "clipped": _format_style("position:absolute;clip:rect(0,0,0,0)"),
    "clip path": _format_style("clip-path:circle(0)"),
    "no height": _format_style("max-height:0;overflow:hidden"),
    "a pixel's box": _format_style("width:1px;height:1px;overflow:hidden"),
    "by a class": "<style>.a{{display:none}}</style><p class=a>{text}</p>",
    "by a nested rule": "<style>@media screen{{div>p.b{{opacity:0}}}}</style><div><p class=b>{text}</p></div>",
    "hidden": "<p hidden>{text}</p>",
    "kept from those who listen": "<p aria-hidden=true>{text}</p>",
    "template": "<template>{text}</template>",
    "no script": "<noscript>{text}</noscript>",
    "comment": "<!-- {text} -->",
    "closed dialog": "<dialog>{text}</dialog>",
    "font element": '<font color="#ffffff">{text}</font>',
    "shown in print alone": "<style>.c{{display:none}}@media print{{.c{{display:block}}}}</style><p class=c>{text}</p>",
    "closed details": "<details><summary>More</summary><p>{text}</p></details>",
}

HONEST_HTML_WAYS: Mapping[str, str] = {
    "plain": "<p>{text}</p>",
    "white on a dark box": '<div style="background:#003"><p style="color:#fff">{text}</p></div>',
    "grey": _format_style("color:#555"),
    "opacity 0.7": _format_style("opacity:.7"),
    "small print": _format_style("font-size:11px"),
    "number kept from those who listen": "<h2><b aria-hidden=true>1.</b> A part</h2><p>{text}</p>",
    "open details": "<details open><summary>More</summary><p>{text}</p></details>",
    "hidden elsewhere": "<style>@media print{{.d{{display:none}}}}</style><p class=d>{text}</p>",
    "quoted": "<blockquote>{text}</blockquote>",
}
