"""Jinja templates, one folder a card; no Python lives here."""
