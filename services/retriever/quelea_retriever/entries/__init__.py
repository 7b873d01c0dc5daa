"""Collections of other texts than documents."""
