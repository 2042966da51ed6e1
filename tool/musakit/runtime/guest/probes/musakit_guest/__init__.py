"""Runs inside the interpreter that has torch and the trees: asks the real code, and writes down what it answers."""
