"""The HTTP half of the door."""
