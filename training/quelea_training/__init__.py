"""Trains Quelea's models on an operator's documents."""
