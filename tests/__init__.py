"""The tests; each process of them computes with one thread."""

import torch

torch.set_num_threads(1)  # before the checks note what a new process has
