"""Clients of other systems that call the service unchanged: each module speaks one system's protocol."""
