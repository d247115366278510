"""Every place of a syntax tree can be read, and written and put back."""

import ast

from autograder.authoring.trees import get, inside, is_raise, places, replace_node

CODE = """\
def double(x):
    if x is None:
        raise ValueError('none of ' + str(x))
    return x + x
"""


def test_every_node_but_the_root_has_one_place():
    tree = ast.parse(CODE)
    nodes = [get(*place) for place in places(tree)]
    assert {id(node) for node in nodes} >= {
        id(node) for node in ast.walk(tree) if node is not tree
    }


def test_what_is_put_at_a_place_stands_there_until_it_is_put_back():
    tree = ast.parse(CODE)
    before = ast.unparse(tree)
    for place in list(places(tree)):
        node = get(*place)
        if isinstance(node, ast.BinOp):
            replace_node(*place, ast.Name("there"))
            assert "there" in ast.unparse(tree)
            replace_node(*place, node)
    assert ast.unparse(tree) == before


def test_what_is_inside_of_a_kind_is_all_below_it_and_not_itself():
    tree = ast.parse(CODE)
    below = inside(tree, is_raise)
    (raised,) = filter(is_raise, ast.walk(tree))
    assert raised not in below
    assert "'none of '" in {ast.unparse(n) for n in below if isinstance(n, ast.expr)}
    assert not any(isinstance(node, ast.Return) for node in below)
