"""What a document says of itself: company, type, period, days, title."""
