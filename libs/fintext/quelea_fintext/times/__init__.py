"""Periods that texts name: real ones, short ones, and those that no report has."""
