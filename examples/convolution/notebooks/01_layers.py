# %% [markdown]
# # 01 · Layers of a convolutional network
#
# *About 1 hour · 3 exercises · 100 points*
#
# A convolution slides a small kernel over an image. You write one by hand, then pooling,
# then the block that made networks of a hundred layers trainable.

# %%
import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from autograder import check

# %% [markdown]
# ### Exercise 1.1 - A convolution by hand
#
# *time ~20 min · difficulty 2/5 · 40 points*
#
# **Task.** Slide the kernel over the image, and return the sum of the products at each
# place where it fits whole. As in PyTorch, the kernel is not flipped.
#
# **Example.** The kernel `[[1, -1]]` turns the row `[3, 5, 4]` into `[-2, 1]`.


# %% exercise="layers/convolve"
def convolve(
    image: Float[np.ndarray, "H W"], kernel: Float[np.ndarray, "m n"]
) -> Float[np.ndarray, "H-m+1 W-n+1"]:
    """The products of kernel and image, summed at each place, in NumPy."""
    ### BEGIN SOLUTION
    m, n = kernel.shape
    sums = np.zeros((image.shape[0] - m + 1, image.shape[1] - n + 1))
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = (image[i : i + m, j : j + n] * kernel).sum()
    return sums
    ### END SOLUTION


# %% check="layers/convolve" points=40
# Kernels of several sizes, wider than high and higher than wide.
check("layers/convolve", convolve)

# %% [markdown]
# ### Exercise 1.2 - Pooling
#
# *time ~15 min · difficulty 2/5 · 25 points*
#
# **Task.** Divide each image into squares of `size` by `size`, and keep the largest
# number of each. A margin that is narrower than a square is left out.
#
# **Example.** With `size=2`, the rows `[1, 2, 0]` and `[4, 3, 9]` become `[4]`.


# %% exercise="layers/max_pool"
def max_pool(
    x: Float[Tensor, "B C H W"], size: int
) -> Float[Tensor, "B C H//size W//size"]:
    """The largest number of each square."""
    ### BEGIN SOLUTION
    squares = x.unfold(2, size, size).unfold(3, size, size)  # (B, C, h, w, size, size)
    return squares.amax(dim=(-2, -1))
    ### END SOLUTION


# %% check="layers/max_pool" points=25
# Images that are a multiple of the squares, and images that are not.
check("layers/max_pool", max_pool)

# %% [markdown]
# ### Exercise 1.3 - A residual block
#
# *time ~15 min · difficulty 2/5 · 35 points*
#
# **Task.** Two convolutions of 3 by 3 with ReLU between them; the input is added before
# the last ReLU (He et al. 2016, section 3). Call the layers `conv1` and `conv2`.


# %% exercise="layers/residual_block"
class ResidualBlock(nn.Module):
    """relu(x + conv2(relu(conv1(x)))), with padding 1, so that sizes stay."""

    def __init__(self, channels: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        ### END SOLUTION

    def forward(
        self, x: Float[Tensor, "B channels H W"]
    ) -> Float[Tensor, "B channels H W"]:
        """Two convolutions and a bypass."""
        ### BEGIN SOLUTION
        hidden = F.relu(self.conv1(x))
        return F.relu(x + self.conv2(hidden))
        ### END SOLUTION


# %% check="layers/residual_block" points=35
# With given weights, in both modes, and the gradient of every parameter.
check("layers/residual_block", ResidualBlock)
