"""An answer before it goes out: what the checks say of it, what is withheld, declined or replaced."""
