"""What the model is asked and what it decides: prompts, calls, and its answers made readable."""
