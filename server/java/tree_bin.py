"""A bin of a `java.util.HashMap` that has become a tree: which order its keys have.

Java turns a bin of many keys into a red-black tree, ordered by hash. The keys remain linked in a
list, which is the order of iteration: a new key comes after its parent in the tree, and after every
change the root is moved to the front. So the order depends on the exact shape of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from typing import Any, Generic, TypeVar

from kafkadouble.messages.uuid import Uuid

from .strings import java_order

K = TypeVar("K")

UNTREEIFY_THRESHOLD = 6
"""Half a tree with no more keys is a list again when the table doubles."""

_LEFT, _RIGHT = 0, 1
_signed_halves = Struct(">2q").unpack


class _Node(Generic[K]):
    __slots__ = ("children", "key", "parent", "red")

    def __init__(self, key: K, parent: _Node[K] | None) -> None:
        self.key = key
        self.parent = parent
        self.children: list[_Node[K] | None] = [None, None]
        self.red = parent is not None

    def side(self) -> int:
        """Returns which child of its parent it is."""
        assert self.parent is not None
        return _LEFT if self.parent.children[_LEFT] is self else _RIGHT


class JavaTreeBin(Generic[K]):
    """The keys of one bin, at least one, in the order of iteration."""

    __slots__ = ("_hash_of", "_keys", "_root")

    def __init__(self, keys: Iterable[K], hash_of: Callable[[K], int]) -> None:
        self._hash_of = hash_of
        self._keys = list(keys)
        self._root = _Node(self._keys[0], None)
        for key in self._keys[1:]:
            self._attach(key)
        self._move_root_to_front()

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[K]:
        return iter(self._keys)

    def insert(self, key: K) -> None:
        """Inserts a key that is not in the bin."""
        parent = self._attach(key)
        self._keys.insert(self._keys.index(parent) + 1, key)
        self._move_root_to_front()

    def remove(self, key: K, *, movable: bool) -> JavaTreeBin[K] | list[K]:
        """Removes a key; returns the bin, or the list of keys that a small tree becomes."""
        self._keys.remove(key)
        if not self._keys or (movable and self._is_small()):
            return self._keys
        order, node = self._order(key), self._root
        while node.key != key:
            child = node.children[_LEFT if order < self._order(node.key) else _RIGHT]
            assert child is not None
            node = child
        self._detach(node)
        if movable:
            self._move_root_to_front()
        return self

    def _is_small(self) -> bool:
        left, right = self._root.children
        return right is None or left is None or left.children[_LEFT] is None

    def _move_root_to_front(self) -> None:
        root = self._root.key
        if self._keys[0] != root:
            self._keys.remove(root)
            self._keys.insert(0, root)

    def _order(self, key: K) -> tuple[int, Any]:
        code = self._hash_of(key)
        return code - (1 << 32) if code >> 31 else code, _comparable(key)

    def _attach(self, key: K) -> K:
        """Adds a node; returns the key of its parent, before the tree is balanced."""
        order, node = self._order(key), self._root
        while True:
            side = _LEFT if order < self._order(node.key) else _RIGHT
            child = node.children[side]
            if child is None:
                break
            node = child
        parent = node.key
        added = node.children[side] = _Node(key, node)
        self._balance_insertion(added)
        return parent

    def _replace(self, node: _Node[K], by: _Node[K] | None) -> None:
        """Puts another subtree, or nothing, where a node is."""
        if by is not None:
            by.parent = node.parent
        if node.parent is not None:
            node.parent.children[node.side()] = by
        elif by is not None:
            self._root = by

    def _rotate(self, node: _Node[K], side: int) -> None:
        """Moves a node down to the given side; its child on the other side takes its place."""
        risen = node.children[1 - side]
        assert risen is not None
        self._replace(node, risen)
        inner = node.children[1 - side] = risen.children[side]
        if inner is not None:
            inner.parent = node
        risen.children[side] = node
        node.parent = risen

    def _balance_insertion(self, node: _Node[K]) -> None:
        while (parent := node.parent) is not None and parent.red:
            above = parent.parent
            assert above is not None
            side = parent.side()
            uncle = above.children[1 - side]
            above.red = True
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                node = above
                continue
            if node.side() != side:
                self._rotate(parent, side)
                node, parent = parent, node
            parent.red = False
            self._rotate(above, 1 - side)
        self._root.red = False

    def _detach(self, node: _Node[K]) -> None:
        if None not in node.children:
            # The next key takes the place of the removed one, and its node is detached instead.
            successor = _leftmost(node.children[_RIGHT])
            node.key = successor.key
            node = successor
        left, right = node.children
        child = left if left is not None else right
        if child is not None:
            self._replace(node, child)
            # A node with one child is black, and the child red.
            child.red = False
        else:
            if not node.red:
                self._balance_deletion(node)
            self._replace(node, None)

    def _balance_deletion(self, node: _Node[K]) -> None:
        """Gives the path to a black node one black node more, before the node is removed."""
        while node is not self._root and not node.red:
            parent, side = node.parent, node.side()
            assert parent is not None
            sibling = parent.children[1 - side]
            assert sibling is not None
            if sibling.red:
                sibling.red, parent.red = False, True
                self._rotate(parent, side)
                sibling = parent.children[1 - side]
                assert sibling is not None
            near, far = sibling.children[side], sibling.children[1 - side]
            if not _is_red(near) and not _is_red(far):
                sibling.red = True
                node = parent
                continue
            if far is None or not far.red:
                assert near is not None
                near.red, sibling.red = False, True
                self._rotate(sibling, 1 - side)
                sibling, far = near, sibling
            sibling.red, parent.red, far.red = parent.red, False, False
            self._rotate(parent, side)
            return
        node.red = False


def _leftmost(node: _Node[K] | None) -> _Node[K]:
    assert node is not None
    while (left := node.children[_LEFT]) is not None:
        node = left
    return node


def _is_red(node: _Node[K] | None) -> bool:
    return node is not None and node.red


def _comparable(key: object) -> Any:
    """Returns what orders keys of equal hash, as `compareTo` does. Java orders TopicIdPartitions by
    their place in memory, which we cannot imitate."""
    if isinstance(key, tuple):
        return tuple(map(_comparable, key))
    if isinstance(key, str):
        return java_order(key)
    return _signed_halves(key) if isinstance(key, Uuid) else key
