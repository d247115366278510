"""Two convolutions and a bypass."""

from autograder.authoring.notation import case, edit, sizes, wrong
from autograder.authoring.specification import Specification

EXERCISE = Specification(
    target="ResidualBlock", results="the output",
    cases=[
        case("plain", "2 images of 3 channels", sizes(B=2, channels=3, H=5, W=6), "Where is x added?"),
        case("many", "5 channels", sizes(B=1, channels=5, H=4, W=3), "Which sizes does padding keep?", hidden_only=True),
    ],
    mutants=[
        wrong("no_bypass", "The input is not added.", "Which path skips both convolutions?",
              edit("x + self.conv2", "self.conv2")),
        wrong("added_last", "x is added after the last ReLU.", "Can your output be negative?",
              edit("F.relu(x + self.conv2(hidden))", "x + F.relu(self.conv2(hidden))")),
    ],
)
