"""Loops with carried values as one primitive: recurrent layers and other scans."""
