"""One look for all figures of the course; ships to students.

`style` has the colours and matplotlib's settings, `maps` the heat maps, `arcs` those
over a sentence, `told` the words of text alternatives. `svg` writes a figure as SVG in
the colours of its page, `page` the HTML around it. `drawings/` is what `assets/figures`
drew. `autograder.checks.display` shows them all.
"""
