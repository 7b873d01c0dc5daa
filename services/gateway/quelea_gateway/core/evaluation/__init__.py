"""What people and workers say of answers: evaluations, votes, thumbs."""
