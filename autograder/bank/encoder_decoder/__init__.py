"""Cases, mutants and accepted solutions of unit 04, encoder and decoder.

All sizes in one case differ. Sentences of a batch differ, and so does their padding:
equal ones let wrong axes pass.
"""

EXERCISES = (
    "feed_forward",
    "add_and_norm",
    "encoder_layer",
    "encoder",
    "decoder_layer",
    "decoder",
    "make_masks",
    "transformer",
    "to_pytorch",
    "language_model",
    "masked_tokens",
    "shifted",
    "attention_weights",
    "bug_clinic",
)
