"""What operators do to a knowledge base: migration, backup, restore, re-embedding."""
