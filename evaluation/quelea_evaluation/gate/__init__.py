"""The gate: local or web, its calibration and its fit."""
