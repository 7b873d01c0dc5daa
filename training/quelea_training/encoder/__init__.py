"""Encoders trained on pairs, measured before and after, written as the embedder serves them."""
