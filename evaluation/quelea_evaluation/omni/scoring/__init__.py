"""What an answer is worth: by rules and by judges."""
