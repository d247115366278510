"""Check cells: which exercise each one checks, and how its verdict is obtained."""
