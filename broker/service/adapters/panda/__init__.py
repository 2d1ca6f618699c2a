"""Pilots of PanDA: its API v1 (api.py), and the older one that its released pilots use for jobs (dispatcher.py)."""

from broker.service.adapters.panda import api, dispatcher

ENDPOINTS = (*api.ENDPOINTS, *dispatcher.ENDPOINTS)
