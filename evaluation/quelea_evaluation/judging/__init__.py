"""What counts as right."""
