"""Measures retrieval, answers and speed."""
