"""The checker: true and false answers, and the fit of its weights."""
