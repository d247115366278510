"""Texts that want to do something to who reads them, and how to see that they do."""

from html.parser import HTMLParser


class _Reader(HTMLParser):
    """Collects what a browser would run or fetch."""

    def __init__(self):
        super().__init__()
        self.dangers: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "embed", "link", "base", "form"):
            self.dangers.append(tag)
        for name, value in attributes:
            value = (value or "").strip().lower()
            if name.startswith("on") or name in ("srcset", "formaction", "background"):
                self.dangers.append(name)
            if name in ("src", "data", "poster") and not value.startswith(
                "data:image/"
            ):
                self.dangers.append(value)
            if name == "href" and not value.startswith(("http", "mailto:", "#")):
                self.dangers.append(value)
            if name == "style" and "url(" in value:
                self.dangers.append(value)


def dangers(html: str) -> list[str]:
    reader = _Reader()
    reader.feed(html)
    return reader.dangers


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<img src="http://evil.example/pixel.png">',
    "<svg><script>alert(1)</script></svg>",
    "<svg onload=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<form action="//evil.example"><input name=a></form>',
    '<object data="x.swf"></object><embed src=x>',
    "<style>@import url(http://evil.example)</style>",
    '<div style="background:url(http://evil.example)">x</div>',
    '<div style="position:fixed;top:0;color:red">x</div>',
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x "
    "onerror=alert(1)>'>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<base href=//evil.example><link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "</div></section></body><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>x</details>",
    "<template><img src=x onerror=alert(1)></template>",
    "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) ![z](http://evil.example/z)",
    "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    r"$\href{javascript:alert(1)}{x}$ $\text{<script>alert(1)</script>}$",
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
]
