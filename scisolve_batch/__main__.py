"""`python -m scisolve_batch` is the same as `scisolve-batch`."""

from scisolve_batch.cli import main

if __name__ == "__main__":
    main()
