"""What the command line is made of, in types."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

# argparse gives it no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace], int]
