"""The embedded server: its programs, its start, and its settings."""
