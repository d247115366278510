"""Cases, mutants and accepted solutions of unit 06, text recovery."""

EXERCISES = (
    "normalise",
    "eliminate",
    "split_pairs",
    "word_tokenizer",
    "merge_pair",
    "learn_merges",
    "segment",
    "smoothed_loss",
    "evaluate",
    "clipped_matches",
    "corpus_bleu",
    "beam_search",
    "consensus",
    "align",
    "error_kinds",
    "model",
)
