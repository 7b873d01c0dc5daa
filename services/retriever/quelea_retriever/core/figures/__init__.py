"""Figures that a question asks for, among the facts of statements."""
