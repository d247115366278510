"""Cases, mutants and accepted solutions of unit 06, text recovery."""

EXERCISES = (
    "normalise",
    "eliminate",
    "split_pairs",
    "word_tokenizer",
    "merge_pair",
    "learn_merges",
    "segment",
    "collate",
    "smoothed_loss",
    "learning_rate",
    "train_epoch",
    "evaluate",
    "clipped_matches",
    "corpus_bleu",
    "greedy_decode",
    "beam_search",
    "model",
)
