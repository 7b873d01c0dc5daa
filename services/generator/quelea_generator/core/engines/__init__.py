"""Which replica of a language model answers, and whose turn it is."""
