"""The analyst that writes code: a loop over ports, without wire or network."""
