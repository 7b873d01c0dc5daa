"""Routes of statements: companies and facts."""
