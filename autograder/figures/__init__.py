"""Draw the course's figures in a common style; this package ships to students.

`maps`, `bars` and `arcs` draw with matplotlib in the colours of `style`, and
`told` writes text alternatives. `svg` writes a figure as SVG in the colours of
its page, and `page` writes the HTML around it.
"""
