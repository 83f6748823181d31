"""Every number that the cards print, recomputed: one file a card with its rows, one runner."""
