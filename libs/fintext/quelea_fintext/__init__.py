"""Financial text, read once: words, numbers, dates, periods, names and terms, in English and Chinese."""
