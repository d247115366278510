"""Draw the course's figures in a common style; this package ships to students.

`style` has the colours and matplotlib's settings, `maps` draws heat maps, `bars` draws
bar charts, `arcs` draws attention over a sentence, and `told` writes text alternatives.
`svg` writes a figure as SVG in the colours of its page, and `page` writes the HTML
around it. The folder ``drawings/`` of the course's package holds finished drawings,
which `assets/figures` makes. `autograder.checks.display` shows figures and drawings in
a notebook.
"""
