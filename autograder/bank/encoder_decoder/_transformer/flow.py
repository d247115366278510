"""Mistakes in the masks, the memory, and what is kept of them."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

FLOW = [
    Mutant(
        name="encoder_on_target",
        says="The decoder looks at the encoded *target*, so the source has no "
        "influence.",
        asks="What does `forward` hand to `decode` as memory?",
        ways=[Way(edits=[
            Edit("self.decode(tgt, self.encode(src), src)",
                 "self.decode(tgt, self.encode(tgt), tgt)"),
        ])],
    ),
    Mutant(
        name="memory_not_encoded",
        says="`encode` stops before the encoder: the memory is the bare embedding.",
        asks="Through which two modules does the source go?",
        ways=[Way(edits=[
            Edit("self.encoder(self.source(src), mask)", "self.source(src)"),
        ])],
    ),
    Mutant(
        name="encode_no_mask",
        says="The encoder gets no mask: source padding is listened to.",
        asks="What is the second argument of your encoder?",
        ways=[Way(edits=[
            Edit("self.encoder(self.source(src), mask)",
                 "self.encoder(self.source(src))"),
        ])],
    ),
    Mutant(
        name="decode_no_memory_mask",
        says="The decoder gets no mask for the memory: source padding is listened "
        "to.",
        asks="For what does `decode` need `src`?",
        ways=[Way(edits=[
            Edit("memory, tgt_mask, src_mask)", "memory, tgt_mask)"),
        ])],
    ),
    Mutant(
        name="decode_no_target_mask",
        says="The decoder gets no target mask: it sees the future.",
        asks="What is the third argument of your decoder?",
        ways=[Way(edits=[
            Edit("memory, tgt_mask, src_mask)", "memory, None, src_mask)"),
        ])],
    ),
    Mutant(
        name="decoder_masks_swapped",
        says="What the decoder gets does not fit: its two masks are in the wrong order, "
        "made of the wrong ids, or one argument is left out.",
        asks="Which comes first, `tgt_mask` or `memory_mask`, and which ids is it made of?",
        ways=[Way(edits=[
            Edit("memory, tgt_mask, src_mask)", "memory, src_mask, tgt_mask)"),
        ])],
    ),
    Mutant(
        name="pad_id_ignored_in_masks",
        says="The masks take 0 for padding, whatever `pad_id` says.",
        asks="Who tells the mask functions about `pad_id`?",
        ways=[Way(edits=[Edit("self.pad_id = pad_id", "self.pad_id = 0")])],
    ),
    Mutant(
        name="pad_id_ignored_in_embedding",
        says="The embeddings do not know `pad_id`, so padding's vector is trained "
        "(or that of a real word is not).",
        asks="What is the last argument of `InputLayer`?",
        ways=[Way(edits=[
            Edit("vocab, d_model, positions, dropout, pad_id",
                 "vocab, d_model, positions, dropout"),
        ])],
    ),
    Mutant(
        name="mask_of_last_encode",
        says="`decode` takes the source's mask from the last `encode`, not from the "
        "`src` that it is given.",
        asks="What if two sources were encoded before the first one is decoded?",
        ways=[Way(edits=[
            Edit("mask = attention.padding_mask(src, self.pad_id)",
                 "mask = self.kept = attention.padding_mask(src, self.pad_id)"),
            Edit("memory, tgt_mask, src_mask)", "memory, tgt_mask, self.kept)"),
        ])],
    ),
    Mutant(
        name="memory_kept",
        says="The memory of a source is kept and used again, after the weights have "
        "changed, too.",
        asks="What happens between two steps of training?",
        ways=[Way(edits=[
            Edit(
                "return self.decode(tgt, self.encode(src), src)",
                """
                kept = getattr(self, "kept", None)
                if self.training or kept is None or not torch.equal(kept[0], src):
                    kept = self.kept = (src, self.encode(src))
                return self.decode(tgt, kept[1], src)
                """,
            ),
        ])],
    ),
    Mutant(
        name="memory_of_old_weights",
        says="For a source that it has just read, the model gives the memory of then, also "
        "when its weights have changed since.",
        asks="When would a memory that was kept be out of date?",
        ways=[Way(edits=[Edit(
            "return self.encoder(self.source(src), mask)",
            """
            old, memory = getattr(self, "last", (None, None))
            if self.training or old is None or not torch.equal(old, src):
                memory = self.encoder(self.source(src), mask)
                self.last = src.clone(), memory
            return memory""",
        )])],
    ),
    Mutant(
        name="first_token_unmasked",
        says="For a target of one token the mask of the source is left out.",
        asks="What does the first step of writing look at?",
        ways=[Way(edits=[
            Edit("memory, tgt_mask, src_mask)",
                 "memory, tgt_mask, src_mask if tgt.size(1) > 1 else None)"),
        ])],
    ),
    Mutant(
        name="masks_of_first_batch",
        says="The masks of the first batch are kept and used for later ones.",
        asks="When are your masks made: once, or for each batch?",
        ways=[Way(edits=[
            Edit(
                "src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)",
                """
                self.kept = getattr(self, 'kept', None) or make_masks(src, tgt, self.pad_id)
                src_mask, tgt_mask = self.kept
                """,
            ),
        ])],
    ),
]
