"""Search providers, one file each; base.py has what they share, fake.py stands in for them in tests."""
