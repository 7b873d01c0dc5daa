"""Routes of answers: ask, check, conversations, thumbs."""
