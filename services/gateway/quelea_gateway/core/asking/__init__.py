"""What is asked: checked, made to stand alone, taken apart into searches."""
