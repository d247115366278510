"""One look for all figures of the course; ships to students.

`style` has the colours and matplotlib's settings, `maps` the heat maps, `told` the
words of text alternatives, `svg` a figure as SVG in the colours of its page, `page` the
HTML around it, `sheet` a sheet for drawings, `drawings` what was drawn on it
(`assets/figures`). `autograder.checks.display` shows them.
"""
