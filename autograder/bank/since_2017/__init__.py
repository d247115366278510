"""Cases, mutants and accepted solutions of unit 07, since 2017.

Nothing is trained here: the mutants of the trained model are small modules that make the
mistake on purpose.
"""

EXERCISES = (
    "rms_norm",
    "rotary_angles",
    "rotate",
    "relative_gap",
    "pairs_to_halves",
    "swiglu",
    "grouped_attention",
    "attention_layer",
    "block",
    "language_model",
    "attend_with_cache",
    "next_distribution",
    "generate",
    "sliding_perplexity",
    "adamw",
    "clip_gradients",
    "trained_model",
    "bug_clinic",
)
