"""Reference solutions: one generated module a unit. Built from notebooks/, never edited."""
