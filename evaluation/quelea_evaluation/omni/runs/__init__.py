"""Systems that are asked the questions, and what that took."""
