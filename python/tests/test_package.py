"""How the package is put together."""

import ast
import graphlib
import pathlib

import spc

PACKAGE = pathlib.Path(spc.__file__).parent


def imports(path):
    """The modules of the package that a module imports, anywhere in its text but for the names of types."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found.update([node.module] if node.module else [name.name for name in node.names])
    return found


def test_no_module_imports_one_that_imports_it():
    modules = {path.stem: imports(path) for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    assert "_functions" in modules["_methods"] and "_array" in modules["_functions"]
    graphlib.TopologicalSorter(modules).prepare()
