"""The verdicts on figures, sentences and markers of an answer."""
