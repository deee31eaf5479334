"""`python -m mlip_dd`: the same as the command `mlip-dd`."""

from mlip_dd.command import main

if __name__ == "__main__":
    main()
