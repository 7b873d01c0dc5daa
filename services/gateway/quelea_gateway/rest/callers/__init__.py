"""Routes of callers: sign-in, keys, usage."""
