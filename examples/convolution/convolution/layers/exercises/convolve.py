"""A convolution by hand, in NumPy."""

from autograder.authoring.notation import case, edit, sizes, wrong
from autograder.authoring.specification import Specification

EXERCISE = Specification(
    results="the sums", fixed="H W",
    cases=[
        case("wide", "a kernel of 2 by 3", sizes(H=5, W=7, m=2, n=3), "How often does the kernel fit into a row?"),
        case("high", "a kernel of 4 by 1", sizes(H=6, W=4, m=4, n=1), "And into a column?", hidden_only=True),
    ],
    mutants=[
        wrong("flipped", "You flipped the kernel, as mathematicians do.", "What does the task say about flipping?",
              edit("* kernel)", "* kernel[::-1, ::-1])")),
    ],
)
