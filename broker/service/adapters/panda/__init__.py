"""Pilots of PanDA: API v1 (api.py), and the older API that released pilots use for jobs (dispatcher.py)."""

from broker.service.adapters.panda import api, dispatcher

ENDPOINTS = (*api.ENDPOINTS, *dispatcher.ENDPOINTS)
