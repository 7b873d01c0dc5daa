"""Thumbs that people gave on answers, made into questions of an evaluation."""
