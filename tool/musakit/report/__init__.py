"""Turns results into JSON documents and tables. It prints nothing."""
