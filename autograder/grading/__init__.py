"""Grading: what nbgrader is configured with. Trusted; runs no student code."""

import sys

# jsonschema would take it to check addresses, which no notebook has; it builds a parser
# for that when it is imported, a second at each start of a process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
