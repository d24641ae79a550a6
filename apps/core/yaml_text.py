"""Strict reading of hand-written YAML: dates stay text, duplicate keys are refused."""

from typing import Any

import yaml

from apps.core import limits


class NotYaml(ValueError):
    """`line` counts from 1; 0: the text as a whole."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a plain word", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} is given twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_text(self, node: yaml.ScalarNode) -> str:
        """Joins surrogate pairs, which JSON writes and YAML does not define."""
        text = str(self.construct_scalar(node))
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            problem = "a text contains half a character (a lone surrogate)"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


_Loader.add_constructor("tag:yaml.org,2002:str", _Loader.construct_text)


def load(content: bytes | str) -> Any:
    """Raises NotYaml."""
    return load_with_lines(content)[0]


def load_with_lines(content: bytes | str, *, aliases: bool = True) -> tuple[Any, dict[str, int]]:
    """The value, and line numbers (from 1) by path, such as `systems.0`.

    `aliases` True: allowed, and no line numbers. False: refused, because a short text with aliases can expand without
    end. Raises NotYaml.
    """
    if len(content) > limits.YAML:
        raise NotYaml(0, f"has {len(content):,} bytes: at most {limits.YAML:,} are read")
    try:
        loader = _Loader(content)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        value = loader.construct_document(node)
        return value, {} if aliases else _lines(node)
    except NotYaml:
        raise
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise NotYaml(line, f"is not YAML: {error.problem}") from error
    except RecursionError as error:
        raise NotYaml(0, "is nested too deeply") from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise NotYaml(0, f"is not YAML: {error}") from error


def _lines(root: yaml.Node) -> dict[str, int]:
    lines: dict[str, int] = {}
    met: set[int] = set()
    waiting: list[tuple[str, yaml.Node, int]] = [("", root, root.start_mark.line)]
    while waiting:
        path, node, line = waiting.pop()
        if id(node) in met:
            raise NotYaml(line + 1, "an alias (*name) is not supported: write out its value")
        met.add(id(node))
        lines[path] = line + 1
        inside: list[tuple[Any, yaml.Node, int]] = []
        if isinstance(node, yaml.MappingNode):
            inside = [(key.value, value, key.start_mark.line) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            inside = [(place, value, value.start_mark.line) for place, value in enumerate(node.value)]
        waiting += [(f"{path}.{key}" if path else str(key), value, at) for key, value, at in reversed(inside)]
    return lines
