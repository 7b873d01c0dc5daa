"""Ranks candidates: what question and passage show, signals, features, weights."""
