"""YAML to typed structs, with the line of every refusal.

The node tree that PyYAML composes is walked beside the type that it has to have. What is wrong is
reported at the node where it stands; ``msgspec`` converts the leaves, strictly.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
import yaml
from msgspec import NODEFAULT

__all__ = ["Path", "RubricError", "TypedYaml", "refused"]

Path = tuple[str | int, ...]
MAX_DEPTH = 30

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class RubricError(Exception):
    """A rubric that cannot be used.

    ``str()`` is one line: file and line, what is wrong, the allowed names and the nearest of them.
    """

    def __init__(
        self, file: str, line: int, what: str, allowed: tuple[str, ...] = (), nearest: str | None = None
    ):
        self.file = file
        self.line = line
        self.what = what
        self.allowed = allowed
        self.nearest = nearest
        listed = f"; allowed: {', '.join(allowed)}" if allowed else ""
        meant = f"; did you mean {nearest!r}?" if nearest else ""
        super().__init__(f"{file}:{line}: {what}{listed}{meant}")


def refused(file: str, line: int, what: str, wrong: str, allowed: typing.Iterable[str]) -> RubricError:
    """The error for a name that is none of the allowed ones."""
    names = tuple(allowed)
    near = get_close_matches(wrong, names, n=1, cutoff=0.5)
    return RubricError(file, line, what, names, near[0] if near else None)


class TypedYaml:
    """One YAML file on its way into structs.

    ``parsers`` gives, for a type, the function that reads it from a string; its ``ValueError`` is the
    refusal. ``line_of`` holds the line of every value that was read, by its path.
    """

    def __init__(
        self,
        text: str,
        file: str,
        parsers: Mapping[type, Callable[[str], Any]],
        whole: str = "the rubric",
    ) -> None:
        """``whole`` names the file in messages."""
        self.file = file
        self.whole = whole
        self.parsers = parsers
        self.line_of: dict[Path, int] = {}
        self.root = self._compose(text)

    def error(self, path: Path, what: str) -> RubricError:
        """A refusal at the value with that path, or at the nearest value around it."""
        while path and path not in self.line_of:
            path = path[:-1]
        return RubricError(self.file, self.line_of.get(path, 1), what)

    def read(self, kind: Any) -> Any:
        """The file's content as ``kind``. Raises ``RubricError``."""
        return self._build(self.root, kind, ())

    def _compose(self, text: str) -> yaml.Node:
        try:
            node = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise RubricError(self.file, mark.line + 1 if mark else 1, f"not YAML: {error.problem}") from None
        except (yaml.YAMLError, RecursionError) as error:
            raise RubricError(self.file, 1, f"not YAML: {str(error).splitlines()[0]}") from None
        if node is None:
            raise RubricError(self.file, 1, "the file is empty")
        return node

    def _build(self, node: yaml.Node, kind: Any, path: Path, key: yaml.Node | None = None) -> Any:
        if len(path) > MAX_DEPTH:
            raise RubricError(self.file, _line(node), f"nested more than {MAX_DEPTH} deep")
        self.line_of[path] = _line(key or node)
        if kind in self.parsers:
            return self._parsed(node, kind)
        kind = self._member(node, kind)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(node, kind, path)
        if origin is dict:
            pairs = self._pairs(node)
            return {key: self._build(value, args[1], (*path, key), at) for key, (at, value) in pairs.items()}
        if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
            if not isinstance(node, yaml.SequenceNode):
                raise RubricError(self.file, _line(node), f"{self._name(path)} must be a list")
            return tuple(self._build(item, args[0], (*path, index)) for index, item in enumerate(node.value))
        return self._leaf(node, kind, path)

    def _member(self, node: yaml.Node, kind: Any) -> Any:
        """The member of a union that the node can be: a struct by its tag, else by the node's own form."""
        if typing.get_origin(kind) not in (typing.Union, types.UnionType):
            return kind
        members = [member for member in typing.get_args(kind) if member is not type(None)]
        structs = [
            member for member in members if isinstance(member, type) and issubclass(member, msgspec.Struct)
        ]
        if len(structs) > 1 and isinstance(node, yaml.MappingNode):
            return self._tagged(node, structs)
        if isinstance(node, yaml.MappingNode) and len(structs) == 1:
            return structs[0]
        return members[0] if len(members) == 1 else kind

    def _tagged(self, node: yaml.Node, structs: list[type[msgspec.Struct]]) -> type[msgspec.Struct]:
        field = structs[0].__struct_config__.tag_field or "type"
        by_tag = {str(struct.__struct_config__.tag): struct for struct in structs}
        pairs = self._pairs(node)
        if field not in pairs:
            raise RubricError(self.file, _line(node), f"the key {field!r} is missing", tuple(by_tag))
        _, value = pairs[field]
        tag = str(value.value)
        if tag not in by_tag:
            raise refused(self.file, _line(value), f"unknown {field} {tag!r}", tag, by_tag)
        return by_tag[tag]

    def _struct(self, node: yaml.Node, kind: type[msgspec.Struct], path: Path) -> Any:
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        tag = kind.__struct_config__.tag_field
        values: dict[str, Any] = {}
        pairs = self._pairs(node)
        for key, (key_node, value) in pairs.items():
            if key == tag:
                continue
            if key not in fields:
                what = f"unknown key {key!r} in {self._name(path)}"
                raise refused(self.file, _line(key_node), what, key, [*([tag] if tag else []), *fields])
            values[fields[key].name] = self._build(value, fields[key].type, (*path, key), key_node)
        for key, field in fields.items():
            missing = field.default is NODEFAULT and field.default_factory is NODEFAULT
            if missing and field.name not in values:
                raise RubricError(self.file, _line(node), f"the key {key!r} is missing in {self._name(path)}")
        try:
            return kind(**values)
        except ValueError as error:
            raise RubricError(self.file, _line(node), f"{self._name(path)}: {error}") from None

    def _pairs(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            raise RubricError(self.file, _line(node), "keys with values are expected here")
        pairs: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in pairs:
                raise RubricError(self.file, _line(key), f"the key {name!r} is given twice")
            pairs[name] = (key, value)
        return pairs

    def _parsed(self, node: yaml.Node, kind: type) -> Any:
        try:
            return self.parsers[kind](str(node.value))
        except ValueError as error:
            raise RubricError(self.file, _line(node), str(error)) from None

    def _leaf(self, node: yaml.Node, kind: Any, path: Path) -> Any:
        try:
            if kind is str and node.tag == "tag:yaml.org,2002:timestamp":
                # A date that needs no quotes: its reader makes a date of it, and has a better message.
                return str(node.value)
            value = yaml.constructor.SafeConstructor().construct_document(node)
            if kind is str and isinstance(value, int | float):
                what = f"{self._name(path)}: text is expected; write '{node.value}' with its quotes"
                raise RubricError(self.file, _line(node), what)
            if typing.get_origin(kind) is typing.Literal and value not in typing.get_args(kind):
                what = f"{self._name(path)}: Invalid enum value {value!r}"
                allowed = map(str, typing.get_args(kind))
                raise refused(self.file, _line(node), what, str(value), allowed)
            return msgspec.convert(value, kind, strict=True)
        except msgspec.ValidationError as error:
            raise RubricError(self.file, _line(node), f"{self._name(path)}: {error}") from None
        except (yaml.YAMLError, ValueError, RecursionError):
            raise RubricError(self.file, _line(node), f"{self._name(path)}: cannot be read") from None

    def _name(self, path: Path) -> str:
        return ".".join(str(part) for part in path) or self.whole


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
