"""From typed text to a small tree: tokens, grammar, tree, show."""
