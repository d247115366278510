"""Cases, mutants and accepted solutions of unit 05, sequence reversal.

Nothing is trained here: functions meet scripted models, and the mutants of the
trained model are small modules that make the mistake on purpose.
"""

EXERCISES = (
    "random_sequences",
    "make_batch",
    "shift",
    "masked_loss",
    "learning_rate",
    "training_step",
    "fit",
    "greedy_decode",
    "exact_match",
    "trained_model",
    "antidiagonal_share",
    "word_ids",
    "sampling_distribution",
    "perplexity",
    "attend_with_cache",
)
