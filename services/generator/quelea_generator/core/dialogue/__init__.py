"""Follow-ups made to stand alone, from the turns before them."""
