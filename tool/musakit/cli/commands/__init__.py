"""One module a command: `configure` declares its options, `run` carries it out."""
