"""Draw the course's figures in a common style; ships to students.

`style` has the colours and matplotlib's settings, `maps` draws heat maps, `arcs` draws
attention over a sentence, and `told` writes text alternatives. `svg` writes a figure as
SVG in the colours of its page, and `page` writes the HTML around it. `drawings/` holds
drawings made by `assets/figures`. `autograder.checks.display` shows all of them.
"""
