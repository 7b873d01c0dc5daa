"""What an answer is made of: evidence, numbers, citations, notices, and the forms it goes out in."""
