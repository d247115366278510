"""Cases and mistakes for an exercise: encode a conversation, and make its labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification

_LETTERS = "abcdefg ijkl?!.,"


def _draw_text(draw: Draw, longest: int = 9) -> str:
    """A short text of random letters and other characters."""
    letters = "".join(_LETTERS[i] for i in draw.ids(0, len(_LETTERS), int(draw.ids(3, longest))).tolist())
    return f"h{letters}z"


def _draw_talk(*roles: str, longest: int = 9, lines: bool = False, newline: str = "") -> Callable[[Draw], Inputs]:
    """Make a function that draws a conversation in which these roles speak in turn.

    With ``lines``, each text has two lines. The encoder puts ``newline``, if it is
    not "", in place of newlines.
    """

    def make_inputs(draw: Draw) -> Inputs:
        texts = [_draw_text(draw, longest) for _ in roles]
        if lines:
            texts = [f"{text}\n{_draw_text(draw)}" for text in texts]
        inputs: Inputs = {"turns": json.dumps(list(zip(roles, texts, strict=True)))}
        return inputs | ({"newline": newline} if newline else {})

    return make_inputs


def _draw_role_in_text(draw: Draw) -> Inputs:
    """Draw a conversation in which the user writes "assistant" and the same text as the assistant's answer."""
    text = _draw_text(draw)
    return {"turns": json.dumps([("user", f"assistant\n{text}"), ("assistant", text), ("user", text)])}


_LEARNT = 'learnt = body if role == "assistant" else [IGNORE] * len(body)'
_IDS = "ids += header + body + newline"
_LABELS = "labels += [IGNORE] * len(header) + learnt + [IGNORE] * len(newline)"
_RESULT = "return torch.tensor(ids), torch.tensor(labels)"

CASES = [
    case("one_answer", "a question and its answer", _draw_talk("user", "assistant"),
         "Print ids and labels side by side. Which tokens does the assistant have to write?"),
    case("system", "a system message, and two questions with answers",
         _draw_talk("system", "user", "assistant", "user", "assistant"),
         "Every answer is learnt, and nothing else is."),
    case("lines", "texts of several lines; a newline has two ids",
         _draw_talk("user", "assistant", lines=True, newline="\r\n"),
         "A text may contain newlines: an answer ends at its `<|im_end|>`. How many ids has the newline after it?"),
    case("marked", "a user who writes the word assistant, and repeats the answer", _draw_role_in_text,
         "A role is learnt, not a word."),
    case("assistant_first", "an assistant who speaks first, and twice in a row",
         _draw_talk("assistant", "assistant", "user", longest=20), "As above.", hidden_only=True),
    case("no_answer", "questions without an answer", _draw_talk("system", "user", "user"),
         "Without an answer, nothing is learnt.", hidden_only=True),
    case("long", "a longer conversation", _draw_talk("user", "assistant", "user", "assistant", "user", "assistant", longest=30),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("questions_too",
          "The questions are learnt as well: your labels do not look at the role, or at the wrong one.",
          "Which turns will the model have to write when somebody uses it?",
          edit(_LEARNT, "learnt = body"),
          edit('role == "assistant"', 'role != "system"', name="all_but_the_system"),
          edit('role == "assistant"', 'role == "user"', name="only_questions")),
    wrong("system_learnt", "The system's turns are learnt as well: you leave out only the user's.",
          "Which of the three roles does the model have to write?",
          edit('role == "assistant"', 'role != "user"')),
    wrong("everything_learnt",
          "Everything is learnt, the markers and roles included: your labels are a copy of the ids.",
          "Which value makes `F.cross_entropy` skip a position?",
          edit(_RESULT, "return torch.tensor(ids), torch.tensor(ids)"), tests="Neither"),
    wrong("end_not_learnt", "The `<|im_end|>` behind an answer is not learnt, so the tuned model never stops writing.",
          "How does a model tell that its answer is complete?",
          edit(_LEARNT,
               'learnt = [*body[:-1], IGNORE] if role == "assistant" else [IGNORE] * len(body)'),
          edit(_RESULT, 'end = encode("<|im_end|>")[0]; '
               "return torch.tensor(ids), torch.tensor([IGNORE if i == end else i for i in labels])",
               name="end_as_padding")),
    wrong("every_end_learnt", "The `<|im_end|>` behind questions is learnt as well, although the user writes it.",
          "Who ends a question?",
          edit(_LEARNT, 'learnt = body if role == "assistant" else [IGNORE] * (len(body) - 1) + body[-1:]')),
    wrong("last_answer_only", "Only the last answer is learnt; all of them should be.",
          "How many answers does a conversation have, and which of them are good examples?",
          edit(_LABELS, """
              if role == "assistant":
                  labels = [IGNORE] * len(labels)
              labels += [IGNORE] * len(header) + learnt + [IGNORE] * len(newline)
              """), tests="Every turn"),
    wrong("header_learnt",
          "The line `<|im_start|>assistant` or the newline at its end is learnt, although the program writes it, not "
          "the model.",
          "Where does unit 7's prompt end, and where does the model begin to write?",
          edit("labels += [IGNORE] * len(header) + learnt",
               'labels += (header if role == "assistant" else [IGNORE] * len(header)) + learnt'),
          edit(r'{role}\n")', '{role}")', 'encode(f"{text}', r'encode(f"\n{text}', name="its_newline_learnt"),
          tests="Neither"),
    wrong("newline_learnt", "The newline after `<|im_end|>` is learnt, although the model has stopped before it.",
          "Which is the last token that the model writes?",
          edit("learnt + [IGNORE] * len(newline)",
               'learnt + (newline if role == "assistant" else [IGNORE] * len(newline))'), tests="Neither"),
    wrong("one_id_per_newline", "You assume that a newline is a single id; where it is several, your labels are wrong.",
          "How many ids does `encode` return for a newline?",
          edit("[IGNORE] * len(newline)", "[IGNORE]"),
          edit("[IGNORE] * len(newline)",
               "[IGNORE if learnt != body else i for i in newline[:-1]] + [IGNORE]", name="only_the_last_left_out"),
          tests="several ids"),
    wrong("first_token_lost", "The first token of each answer is not learnt.",
          "With `a[1:]`, which entry is left out?",
          edit(_LEARNT, 'learnt = [IGNORE] * len(body); learnt[1:] = body[1:] if role == "assistant" else learnt[1:]')),
    wrong("shifted_already", "Your labels are shifted against the ids; `answer_loss` shifts them once more.",
          "Which label does the contract put at position `t`?",
          edit(_RESULT, "return torch.tensor(ids), torch.tensor([*labels[1:], IGNORE])"),
          edit(_RESULT, "return torch.tensor(ids[:-1]), torch.tensor(labels[1:])", name="shifted_and_cut"),
          tests="shifted"),
    wrong("ignored_by_zero",
          "Tokens that are not learnt have a label other than `IGNORE`, which the loss then counts as a token.",
          "What does `F.cross_entropy` do with a label of 0, and what with -100?",
          edit("labels += [IGNORE] * len(header) + learnt + [IGNORE] * len(newline)",
               "labels += [0] * len(header) + [max(i, 0) for i in learnt] + [0] * len(newline)"),
          edit("[IGNORE] * len(header)", "[-1] * len(header)", name="minus_one")),
    wrong("other_template",
          "Your text differs from the template: a newline, a role or a marker is missing or in a different place.",
          "Print the characters of your first turn. What comes after the role, and what after `<|im_end|>`?",
          edit(r'{role}\n")', '{role}")'),
          edit(_IDS, "ids += header + body",
               _LABELS, "labels += [IGNORE] * len(header) + learnt", name="no_newline_at_the_end"),
          edit('{text}<|im_end|>', r'{text}\n<|im_end|>', name="newline_before_the_end"),
          edit("<|im_start|>{role}", "<|im_start|> {role}", name="space_before_the_role"),
          edit("<|im_start|>{role}", "{role}", name="no_start"),
          tests="Each turn"),
    wrong("prompt_appended",
          "An empty turn of the assistant is appended, as in a prompt; a conversation to learn from ends with its last "
          "turn.",
          "Is anything left to be written here?",
          edit(_RESULT, "more = encode('<|im_start|>assistant\\n'); "
               "return torch.tensor(ids + more), torch.tensor(labels + [IGNORE] * len(more))")),
    wrong("found_by_text", "Answers are found by their text, so that a question with the same words is learnt as well.",
          "What tells an answer from a question: its words, or its role?",
          edit(_RESULT, """
              for role, text in turns:
                  part = encode(f"{text}<|im_end|>")
                  for t in range(len(ids)):
                      if role == "assistant" and ids[t:t + len(part)] == part:
                          labels[t:t + len(part)] = part
              return torch.tensor(ids), torch.tensor(labels)
              """)),
    wrong("batch_dimension", "Your tensors have a batch dimension; a conversation has the shape `(L,)`.",
          "How many dimensions do the docstring's tensors have?",
          edit(_RESULT, "return torch.tensor([ids]), torch.tensor([labels])"), tests="int64"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("as_a_whole", source(r"""
        def chat_example(turns, encode):
            start, end = encode("<|im_start|>")[0], encode("<|im_end|>")[0]
            ids = encode("".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns))
            labels, speaking, header = [], iter(turns), []
            answers = False
            for i in ids:
                if i == start:
                    header, answers = [i], False
                    role, _ = next(speaking)
                    rest = len(encode(f"{role}\n"))
                    labels.append(IGNORE)
                elif rest:
                    rest -= 1
                    answers = rest == 0 and role == "assistant"
                    labels.append(IGNORE)
                else:
                    labels.append(i if answers else IGNORE)
                    answers = answers and i != end
            return torch.tensor(ids), torch.tensor(labels)
        """), tests="parts"),
    right("masked", source(r"""
        def chat_example(turns, encode):
            ids, learnt = [], []
            for role, text in turns:
                for part, count in ((f"<|im_start|>{role}\n", False), (f"{text}<|im_end|>", role == "assistant"),
                                    ("\n", False)):
                    new = encode(part)
                    ids.extend(new)
                    learnt.extend([count] * len(new))
            ids = torch.tensor(ids)
            return ids, ids.where(torch.tensor(learnt), -100)
        """)),
    right("turn_by_turn", source(r"""
        def chat_example(turns, encode):
            ids, labels = [], []
            for role, text in turns:
                turn = encode(f"<|im_start|>{role}\n{text}<|im_end|>\n")
                labels += [IGNORE] * len(turn)
                if role == "assistant":
                    begin, tail = len(encode(f"<|im_start|>{role}\n")), len(encode("\n"))
                    labels[len(ids) + begin:len(ids) + len(turn) - tail] = turn[begin:-tail]
                ids += turn
            return torch.tensor(ids), torch.tensor(labels)
        """), tests="parts"),
]


def _has_known_roles(inputs: Mapping[str, Any]) -> bool:
    """Return whether every turn's role is "system", "user" or "assistant"."""
    return all(role in ("system", "user", "assistant") for role, _ in json.loads(inputs["turns"]))


EXERCISE = Specification(
    precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED, is_possible=_has_known_roles,
)
