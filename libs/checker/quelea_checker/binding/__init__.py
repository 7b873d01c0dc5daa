"""Which fact a figure is said of: the words about it fit one better than the others."""
