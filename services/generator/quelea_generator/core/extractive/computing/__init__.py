"""Figures that are computed from figures of the evidence: changes, growth, shares, ratios, sums, differences."""
