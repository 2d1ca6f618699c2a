"""People and their browsers: login, logout, and sessions."""
