"""A cross-encoder that says whether a passage supports a sentence."""
