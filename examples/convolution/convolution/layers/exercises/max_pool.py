"""The largest number of each square."""

from autograder.authoring.notation import case, edit, sizes, wrong
from autograder.authoring.specification import Specification

EXERCISE = Specification(
    results="the pooled images", fixed="H W",
    cases=[
        case("whole", "squares of 2 by 2", sizes(B=2, C=3, H=4, W=6, size=2), "Which numbers share a square?"),
        case("margin", "squares of 3 by 3, and a margin", sizes(B=3, C=2, H=7, W=8, size=3),
             "What becomes of a margin that is too narrow?", hidden_only=True),
    ],
    mutants=[
        wrong("average", "You average each square.", "Which number of a square should stay?",
              edit("amax(", "mean(")),
    ],
)
