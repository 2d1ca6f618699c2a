"""Agents that ask the service over HTTP, in a separate process, and checks after the run."""
