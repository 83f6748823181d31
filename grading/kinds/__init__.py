"""One answer kind a file: it parses, shows and compares."""
