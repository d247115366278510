"""Grade each hand-in as soon as it arrives, for services such as Gradescope."""
