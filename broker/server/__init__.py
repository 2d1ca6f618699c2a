"""The embedded server: where its programs are, how it is started, and its settings."""
