"""People and their browsers: log in, log out, and who is logged in."""
