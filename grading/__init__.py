"""Reading answers, comparing them with keys, saying what differs."""
