"""Measures, pure functions."""
