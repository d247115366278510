"""What the tests of the recovery write, and how a model's answer is decoded."""

from functools import partial

from transformer_course.solutions.sequence_reversal import greedy_decode

GREEDY = partial(greedy_decode, max_len=60)
SENTENCES = ['"Go," she said.', "The bakers baked 12 cakes.", "Élodie isn't here!"]
