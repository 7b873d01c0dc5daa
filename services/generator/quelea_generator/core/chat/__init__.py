"""The reader that asks a language model: its prompt, what fits into it, and what its answer cites."""
