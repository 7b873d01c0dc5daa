"""The reader that quotes: what a question asks, which rows and sentences answer it, and the answer made of them."""
