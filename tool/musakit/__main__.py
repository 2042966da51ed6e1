"""`python -m musakit`: the command line."""

from musakit.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
