"""``python -m askgraph`` is the command ``askgraph``."""

# Not above: processes that a command starts import this module under another name, and need no commands.
if __name__ == "__main__":
    from askgraph.cli import main

    main()
