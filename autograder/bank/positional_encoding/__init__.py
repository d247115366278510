"""Cases, mutants and accepted solutions of unit 01, positional encoding."""

EXERCISES = (
    "embed",
    "shuffle_gap",
    "table_by_loops",
    "sinusoid",
    "module",
    "input_layer",
    "shift_matrix",
    "learned",
    "bug_clinic",
    "draw_dimensions",
)
