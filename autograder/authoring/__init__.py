"""From the hand-written notebooks to source, release, solutions and references."""
