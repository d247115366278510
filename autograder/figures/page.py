"""Write the HTML around drawings: a numbered caption, and steps to move through.

Steps are radio buttons with CSS rather than a script, so that keyboards and
screen readers can use them. Each drawing is included twice: as live SVG, and as
a picture for pages that remove SVG and style sheets, such as feedback pages.
There, and in print, all steps appear side by side.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BLUE = "#0072B2"  # darker than the blue of figures, as the background of white text
# A picture cannot use the colours of its page, so it has its own background.
_PAPER = (
    "<style>:root{color:#222;background:#fff}@media(prefers-color-scheme:dark)"
    "{:root{color:#ddd;background:#1a1a1a}}</style>"
)
# On a page of nbconvert, only a tag marks a folded cell. Figures therefore include the
# rule that shows just the first line of its code, the title. The reader can open it by
# dragging its corner.
FOLDED = (
    ".celltag_hide-input .jp-InputArea-editor>div"
    "{height:1.5em;overflow:auto;resize:vertical}"
)
# Limits lines of text to a readable length, since a notebook fills its window.
PROSE = ".jp-RenderedMarkdown :is(p,li){max-width:46em}"
PAGE = FOLDED + PROSE  # the rules that apply to the page outside of a figure
_RULES = """
#ID{margin:1em 0;max-width:100%}
#ID .live{display:block!important}#ID .still{display:none}
#ID figcaption,#ID .said{max-width:46em;line-height:1.45}
#ID figcaption{margin-top:.5em}
"""
_NARROW = 375  # points; up to this width, a drawing can be read when it fits a phone
# A wider one is scrolled, and fades out on the right until it is at its end.
_WIDE_RULES = """
@media screen and (max-width:600px){#ID{container-type:inline-size}
#ID .BOX{overflow-x:auto}#ID svg{max-width:none!important;zoom:.85}
#ID .frame{min-width:auto}
#ID .said{position:sticky;left:0;width:100cqi;box-sizing:border-box;\
padding-right:2.5em}
@supports (animation-timeline:scroll()){
#ID .BOX{animation:ID-fade linear both;animation-timeline:scroll(self inline)}}}
@keyframes ID-fade{FADE}
"""
_MASK = "mask:linear-gradient(to left,#0000,#000 3em) left/{} 100% no-repeat"
_FADE = f"from{{{_MASK.format('100%')}}}to{{{_MASK.format('calc(100% + 3em)')}}}"
_STEP_RULES = """
#ID input{position:absolute;opacity:0;pointer-events:none}
#ID .live{position:relative}#ID .frames{display:grid}
#ID .bar{display:flex;flex-wrap:wrap;gap:.35em;margin-bottom:.6em}
#ID .bar label{box-sizing:border-box;min-width:2.6em;padding:.25em .7em;\
border:1px solid #808080a0;\
border-radius:.5em;text-align:center;cursor:pointer;user-select:none}
#ID .bar label:hover{border-color:BLUE}
#ID .bar span{align-self:center;margin-right:.3em}
#ID .frame{grid-area:1/1;min-width:0;visibility:hidden;opacity:0}
#ID clipPath *{visibility:visible}
@media (prefers-reduced-motion:no-preference){
#ID .frame{transition:.15s}}
#ID .said{margin:.3em 0 0}
@media screen{#ID .said b{display:none}}
#ID .drawn{position:relative;width:fit-content}
#ID .drawn label{position:absolute;cursor:pointer}
#ID .drawn label:hover{outline:2px solid}
@media screen and (max-width:600px){\
#ID .bar label{min-width:2.2em;padding:.5em .35em}#ID .bar{gap:.25em}}
@media print{#ID .bar{display:none}
#ID .frames{display:flex;flex-wrap:wrap;gap:1em}
#ID .frame{visibility:visible!important;opacity:1!important;\
width:46%;break-inside:avoid}}
"""
# The new step is there at once and the old one fades out over it, so that whatever
# both have in common does not flicker.
_ONE_STEP = """
#ID input:nth-of-type(N):checked~.frames .frame:nth-of-type(N){\
visibility:visible;opacity:1;transition:none}
#ID input:nth-of-type(N):checked~.bar label:nth-of-type(N){\
background:BLUE;border-color:BLUE;color:#fff}
#ID input:nth-of-type(N):focus-visible~.bar label:nth-of-type(N){\
outline:2px solid;outline-offset:2px}
"""
# With the mouse over an area of a drawing, its step is shown; a click selects it.
_ONE_AREA = """
#ID:has(.area-N:hover) .frame{visibility:hidden!important;opacity:0!important}
#ID:has(.area-N:hover) .frames .frame:nth-of-type(N){\
visibility:visible!important;opacity:1!important;transition:none}
#ID:has(.area-N:hover) .bar label:not(:nth-of-type(N)){background:none!important;\
color:inherit!important;border-color:#808080a0!important}
#ID:has(.area-N:hover) .bar label:nth-of-type(N){background:BLUE!important;\
color:#fff!important;border-color:BLUE!important}
"""

Area = tuple[float, float, float, float]


@dataclass(frozen=True)
class Drawn:
    """A drawing as SVG, with a text alternative for readers who cannot see it."""

    svg: str
    alt: str


def figure(drawing: Drawn, number: str = "", caption: str = "") -> str:
    """Write the HTML of a drawing with its caption; ``number`` is like "2.3"."""
    name = _name(drawing)
    fallback = f'<div class="still">{_picture(drawing)}</div>'
    rules = _RULES + _wide_rules(drawing, "live")
    return _wrap(name, rules, drawing.svg, fallback, _caption(number, caption))


def steps(
    frames: Sequence[Drawn],
    sentences: Mapping[str, str],
    number: str = "",
    caption: str = "",
    *,
    opened: int = 0,
    areas: Sequence[Area] = (),
) -> str:
    """Write the HTML of drawings that a reader moves through, each with a sentence.

    Args:
        sentences: the sentence of each drawing, by the label of its button.
        opened: the index of the drawing that is shown first.
        areas: where the mouse selects each drawing: (left, top, width, height),
            relative to the size of a drawing.
    """
    name = _name(*frames)
    rules, buttons, live_frames, pictures = _RULES + _STEP_RULES, "", "", ""
    rules += _wide_rules(frames[0], "frames")
    area_labels = "".join(_area(name, n, area) for n, area in enumerate(areas, 1))
    # Buttons count from 1, and a negative index from the end.
    first = range(len(frames))[opened] + 1
    shared = _shared_words(list(sentences))
    bar = f'<span aria-hidden="true">{html.escape(shared)}</span>' if shared else ""
    for n, (frame, texts) in enumerate(zip(frames, sentences.items(), strict=True), 1):
        label, sentence = map(html.escape, texts)
        rule = _ONE_STEP + (_ONE_AREA if areas else "")
        rules += re.sub(r"\bN\b", str(n), rule)
        checked = " checked" if n == first else ""
        # Without this attribute, arrow keys would move JupyterLab's cells instead.
        buttons += (
            f'<input type="radio" name="{name}" id="{name}-{n}"'
            f' aria-label="{label}: {sentence}"'
            f' data-lm-suppress-shortcuts="true"{checked}>'
        )
        word = label.removeprefix(html.escape(shared)).strip()
        bar += f'<label for="{name}-{n}" aria-hidden="true">{word}</label>'
        paragraph = f'<p class="said"><b>{label} · </b>{sentence}</p>'
        drawn = f'<div class="drawn">{frame.svg}{area_labels}</div>'
        live_frames += f'<div class="frame">{drawn}{paragraph}</div>'
        pictures += (
            '<div style="display:inline-block;width:48%;vertical-align:top">'
            f"{_picture(frame)}{paragraph}</div>"
        )
    live = (
        f'{buttons}<div class="bar">{bar}</div><div class="frames">{live_frames}</div>'
    )
    fallback = f'<div class="still">{pictures}</div>'
    return _wrap(name, rules, live, fallback, _caption(number, caption))


def _shared_words(labels: Sequence[str]) -> str:
    """Return the words that begin all labels: "step" for "step 0" and "step 1".

    They are written once, before the buttons. Each button keeps at least its last word.
    """
    if len(labels) < 2:
        return ""
    shared: list[str] = []
    for words in zip(*(label.split(" ")[:-1] for label in labels), strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    return " ".join(shared)


def _area(name: str, n: int, area: Area) -> str:
    """Write the HTML of a transparent label over an area, which selects step n."""
    left, top, width, height = (f"{100 * share:.2f}%" for share in area)
    return (
        f'<label class="area-{n}" for="{name}-{n}" aria-hidden="true" '
        f'style="left:{left};top:{top};width:{width};height:{height}"></label>'
    )


def _wide_rules(drawing: Drawn, box: str) -> str:
    """Return the rules by which ``box``, a class, scrolls a drawing wider than a phone.

    A narrow drawing needs none: it shrinks until it fits.
    """
    width = re.search(r'<svg[^>]* width="([\d.]+)pt"', drawing.svg)
    is_narrow = width and float(width[1]) <= _NARROW
    return "" if is_narrow else _WIDE_RULES.replace("BOX", box)


def _wrap(name: str, rules: str, live: str, fallback: str, caption: str) -> str:
    """Write the ``<figure>`` element: style sheet, live version, fallback, caption."""
    rules = rules.replace("FADE", _FADE).replace("ID", name).replace("BLUE", BLUE)
    return (
        f'<figure id="{name}"><style>{rules}{PAGE}</style>'
        f'<div class="live" hidden="hidden">{live}</div>{fallback}{caption}</figure>'
    )


def _name(*drawings: Drawn) -> str:
    """Derive a figure's HTML id from its drawings: equal figures get the same id."""
    text = "".join(drawing.svg for drawing in drawings)
    return f"figure-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _caption(number: str, caption: str) -> str:
    if not number and not caption:
        return ""
    label = f"<b>Figure {html.escape(number)}.</b> " if number else ""
    return f"<figcaption>{label}{html.escape(caption)}</figcaption>"


def _picture(drawing: Drawn) -> str:
    """Write a drawing as an ``<img>`` that depends on nothing else in the page."""
    start = drawing.svg.index(">") + 1
    svg = drawing.svg[:start] + _PAPER + drawing.svg[start:]
    data = base64.b64encode(svg.encode()).decode()
    alt = html.escape(drawing.alt, quote=True)
    source = f"data:image/svg+xml;base64,{data}"
    return f'<img style="max-width:100%" alt="{alt}" src="{source}">'
