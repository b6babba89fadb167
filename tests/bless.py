"""Rewrites every golden file from what the compiler says now: `make bless`, then read `git diff`.

What the files mean is said by the tests that own them.
"""

from __future__ import annotations

from tests.compiler import test_diagnostics, test_golden


def main() -> None:
    """Diagnostics and MLIR."""
    test_diagnostics.bless()
    test_golden.bless()


if __name__ == "__main__":
    main()
