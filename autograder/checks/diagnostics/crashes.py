"""Kinds of errors, recognised by their first lines, with a message for each.

Each message is true in any exercise; the panel shows the line of code below it.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.language import translatable


@dataclass(frozen=True)
class Crash:
    """A kind of error, and what to say to a student whose code causes it.

    Args:
        line: a regular expression for the error's first line, whose named groups
            fill the fields of ``message``.
        asks: a question that helps.
        in_student_code: whether the student's own line must have raised the error;
            None if either will do.
    """

    line: str
    message: str
    asks: str
    in_student_code: bool | None = None


_ARGUMENTS = (
    r"^TypeError: .*(takes .* positional arguments? but|unexpected keyword argument"
    r"|missing \d+ required positional|takes no arguments|invalid combination of)"
)
_BROADCAST = translatable(
    "Counted from the right, which sizes do the scores have, and which does the mask "
    "have?"
)
UNKNOWN_ARGUMENT = Crash(
    r"^TypeError: .*got an unexpected keyword argument '(?P<name>\w+)'",
    "The stub has an argument called `{name}`, but your code has none of that name.",
    "What are the arguments called in the stub, and what in yours?",
    in_student_code=False,
)
CRASHES = (
    Crash(r"; `(?P<name>[^`]+)`.*: shared with another name",
        "`{name}` is not a parameter of its own: one tensor has two names.",
        "Where is it created, and where does your code use it again?"),
    Crash(r"^expected (a )?parameters? `(?P<name>[^`]+)`.*, found `(?P<own>[^`]+)`",
        "Your module has no parameter called `{name}`; the nearest name is `{own}`.",
        "Is a name different, or is a layer missing? See `named_parameters()`."),
    Crash(
        r"^expected (?!.*\b(tuple|list|pairs?|each)\b.*,).*, got a (tuple|list) of \d",
        "Your code returns several values, but only one is asked for.",
        "Which of them does the docstring name?",
        in_student_code=False,
    ),
    Crash(r"Boolean value of Tensor with more than one value is ambiguous",
        "Python's `if`, `and`, `or` and `not` need one truth value, and a tensor with "
        "several entries has none.",
        "Do you want to know whether there *is* a tensor, or what holds for each "
        "entry?"),
    Crash(r"^NameError: name '(?P<name>exp|sqrt|log|sin|cos|pi|inf|softmax|relu|matmul|"
        r"einsum|arange|zeros|ones|full|where|cat|stack|outer|triu|tril)' is not",
        "Your code uses `{name}` without the module that it comes from.",
        "Which module has it: `torch`, `math` or `F`?"),
    Crash(r"^NameError: name '(?P<name>\w+)' is not defined",
        "Your code uses `{name}`, which is not defined.",
        "Is it spelled the same everywhere, and has the cell that defines it run "
        "since the kernel started?"),
    Crash(r"(unsupported operand type\(s\) for \^=?:|bitwise_xor)",
        "In Python `^` compares bits; it does not raise to a power.",
        "Which operator does?"),
    Crash(r"^TypeError: .*(got \(?float|of type float|'float' object cannot be)",
        "A size or a count must be an integer, but yours is a `float`.",
        "Which step turned it into a `float`?"),
    UNKNOWN_ARGUMENT,
    Crash(_ARGUMENTS,
        "The check calls your code with the arguments of the stub, but yours takes "
        "different ones.",
        "Which arguments does the stub name, in which order, including `self`?",
        in_student_code=False),
    Crash(_ARGUMENTS,
        "A call in your code passes different arguments than the function takes.",
        "Which arguments does it take, in which order, and which do you pass?",
        in_student_code=True),
    Crash(
        r"^NotImplementedError: Module \[\w+\] is missing the required",
        "Your module has no method `forward`.",
        "What is the method called in the stub, and is yours indented like `__init__`?",
    ),
    Crash(r"^TypeError: '[\w.]+' object is not callable",
        "Parentheses call a function, but what comes before them here is not one.",
        "What does that name hold, and which line assigned it?"),
    Crash(r"^TypeError: .* is not a Module subclass",
        "A container of modules gets something that is not a module.",
        "Is it a layer, or a function that makes one?"),
    Crash(r"^AttributeError: cannot assign \w+ before Module.__init__",
        "`nn.Module` was not initialised before you assigned something to it.",
        "Which line must the `__init__` of every module begin with?"),
    Crash(r"NoneType",
        "Your line gets `None` where it needs a value.",
        "Which argument may be `None`, and which function ends without `return`?",
        in_student_code=True),
    Crash(r"'tuple' object has no attribute "
        r"'(?P<name>copy|append|extend|insert|pop|remove|sort|reverse|clear)'",
        "Your line calls `.{name}`, which a list has and a tuple has not.",
        "What does the signature say about this argument, and which function makes a "
        "list of any sequence?"),
    Crash(r"('tuple' object has no attribute|must be Tensor, not tuple"
        r"|torch\.return_types|'tuple' and '\w+'|'\w+' and 'tuple'"
        r"|can only concatenate tuple)",
        "Your line uses a tuple as if it were a single tensor.",
        "Where does it come from: a function that returns several results, `*args`, or "
        "brackets of your own?"),
    Crash(r"^AttributeError: '(?P<kind>bool|int|float|str)' object has no attribute "
        r"'(?P<name>\w+)'",
        "Your line uses `.{name}` on a plain `{kind}`, which is not a tensor.",
        "Which expression produces it, and does it compare or compute with `None` or a "
        "plain number?"),
    Crash(r"^AttributeError: (module )?'[\w.]+' (object )?has no attribute "
        r"'(?P<name>\w+)'",
        "Your line asks for `.{name}`, but there is no attribute of that name.",
        "Is it spelled the same everywhere, and is it set before it is used?"),
    Crash(r"^TypeError: ('\w+' object is not (subscriptable|iterable|an iterator)"
        r"|iteration over a 0-d tensor|object of type '\w+' has no len)",
        "Your line loops over something that has no parts, or picks one of them.",
        "What is it just before this line? `print` shows its value and its type."),
    Crash(r"^KeyError: '(?P<name>[\w.]+)'",
        "Your code looks up `{name}` in a dictionary that has no such key.",
        "Which keys does it have? `print` shows them."),
    Crash(r"^RecursionError",
        "Your function keeps calling itself.",
        "Which function did you mean to call there?"),
    Crash(r"^ValueError: (not enough|too many) values to unpack",
        "Your line unpacks into more or fewer names than there are values.",
        "How many dimensions or results are there, and is it the same number each "
        "time?"),
    Crash(r"view size is not compatible with input tensor's size and stride",
        "A tensor that was transposed or expanded is not contiguous in memory, and "
        "`view` never copies.",
        "Which other function reshapes, and copies if it must?"),
    Crash(r"(shape '.*' is invalid for input of size|don't multiply up to the size)",
        "The new shape has a different number of entries than the tensor.",
        "What do its sizes multiply to, and which of them is not the one you meant?"),
    Crash(r"The shape of the mask .* does not match the shape of the indexed tensor",
        "In square brackets a mask must have exactly the shape of the tensor: nothing "
        "is broadcast there.",
        "Which shapes do the two have? Should they be equal, or do you need a "
        "function whose mask broadcasts?"),
    Crash(r"(mat1 and mat2 shapes cannot be multiplied|must match except in dimension|"
        r"Expected size for first two dimensions of batch2|size mismatch, got input)",
        "The shapes of two tensors do not fit together.",
        "Which shapes do they have just before the line that fails, and which sizes "
        "should be equal?"),
    Crash(r"^RuntimeError: output with shape .* doesn't match the broadcast shape",
        "The result of an in-place operation does not fit into the tensor it is "
        "written to.",
        "What is the shape of the tensor that you write to, and what is the shape of "
        "the result?"),
    Crash(
        r"^RuntimeError: The (size of tensor a|expanded size of the tensor) \(\d+\) m",
        "Two tensors do not broadcast: counted from the right, their sizes must be "
        "equal or 1.",
        "Which shapes do the two have, and which of their sizes should be equal?",
    ),
    Crash(r"^ValueError: expected sequence of length \d+ at dim \d+ \(got \d+\)",
        "A tensor is rectangular, but your rows have different lengths.",
        "What should fill a short row where the others go on?"),
    Crash(r"stack expects each tensor to be equal size",
        "`stack` needs tensors that all have the same shape, and yours do not.",
        "Along which dimension were they cut, and does it divide evenly?"),
    Crash(r"^IndexError: (Dimension out of range|too many indices for tensor)",
        "Your line asks for a dimension that the tensor does not have.",
        "How many dimensions may there be, and which indices count from the end?"),
    Crash(r"^IndexError: (index -?\d+ is out of (bounds|range)|.*index out of range)",
        "An index is out of range: n entries have the indices 0 to n - 1.",
        "Which dimension does it belong to, and what is the last index there?"),
    Crash(
        r"(tensors used as indices must be|Expected tensor for argument #\d+ 'indices'"
        r"|valid indices \(got)",
        "What you use as an index, or look up in an embedding, does not hold integers.",
        "Which argument holds the indices of the rows, and has it kept its dtype?",
    ),
    Crash(r"^TypeError: .*must be Tensor, not (float|int)",
        "A PyTorch function expects a tensor but gets a plain number.",
        "Which of the two is wanted here, and which module computes with plain "
        "numbers?"),
    Crash(r"(only supports boolean masks|expected condition to be a boolean"
        r"|only implemented on integer and Boolean)",
        "A mask says yes or no, but yours holds other values.",
        "Which comparison creates it, and has it kept its dtype since?"),
    Crash(r"(expected m1 and m2 to have the same dtype|mat1 and mat2 must have the same"
        r"|expected scalar type \w+ but found)",
        "Tensors of different dtypes meet in one operation.",
        "Which of them does your code create, and with which dtype?"),
    Crash(
        r"^RuntimeError: (a view of )?a leaf Variable that requires grad",
        "Your code writes into a tensor that records gradients, which PyTorch "
        "refuses.",
        "Should this tensor change at all, and if so, does the change need a gradient?",
    ),
    Crash(r"modified by an inplace operation",
        "Values that the gradient needs were overwritten.",
        "Which line works in place: `+=`, a name that ends in `_`, an assignment to a "
        "slice?"),
    Crash(r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy cannot take a tensor that records gradients.",
        "Can PyTorch do the same, so that the gradient flows on?"),
    Crash(r"to be a tensor, got an? (?P<name>\w+)",
        "Your code returns a `{name}`, not a tensor.",
        "Which line leaves PyTorch (`numpy`, `tolist`, `item`, a list of your own)?",
        in_student_code=False),
    Crash(r"(^MemoryError|^(torch\.)?OutOfMemoryError|can't allocate memory)",
        "Your line asks for more memory than there is.",
        "Which sizes does the tensor have that is made there, and which one of them is "
        "too large?",
        in_student_code=True),
    Crash(r"(Torch not compiled with CUDA|No CUDA GPUs|Found no NVIDIA driver)",
        "Your code asks for a GPU, but there is none.",
        "On which device are the tensors that your code was given?"),
    # The probes' messages about values that do not fit, and two rarer errors.
    Crash(r"^expected `(?P<name>[^`]+)` of shape \(.*\), found \(",
        "`{name}` has the wrong shape.",
        "From which size to which size does this layer map, and where do the sizes "
        "come from?"),
    Crash(r"^expected a `(?P<name>\w+)` that broadcasts to the scores",
        "`{name}` does not broadcast to the scores.",
        _BROADCAST),
    Crash(r"^expected a mask that broadcasts to the scores",
        "Your mask does not broadcast to the scores.",
        _BROADCAST),
    Crash(r"^RuntimeError: upper bound and lower bound inconsistent with step sign",
        "A range ends before it begins.",
        "Which of the two ends depends on an argument, and should the other one?"),
    Crash(r"^FileNotFoundError: .*: '?(?P<name>[\w./-]+)'?$",
        "Your code opens a file that is not there: `{name}`.",
        "Which line writes that file, and has what you need been handed to you?"),
)  # fmt: skip
