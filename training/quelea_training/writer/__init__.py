"""A writer by LoRA: samples, an adapter trained on them, and what it does on questions that were held out."""
