"""What the cards compute: pure solvers first, then that card's drills."""
