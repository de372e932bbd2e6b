"""Calls of modules, and the hooks around them and around saving and loading."""
