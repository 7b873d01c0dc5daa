"""Saved conversations, and what chat front-ends ask beside questions."""
