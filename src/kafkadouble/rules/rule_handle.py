"""The handle of an armed fault rule, and the check before a rule is armed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check as check_argument
from kafkadouble.common.errors import UsageError
from kafkadouble.common.kinds import given_as
from kafkadouble.common.start_options import CONTROLLER_PORT, DATA_DIR, SECURITY, TWO_BROKERS
from kafkadouble.server.faults import CONNECTION, DISK, LINK, REQUEST
from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.disks import is_in
from kafkadouble.server.faults.rule import EVERY_API, Rule
from kafkadouble.server.tracing.seen_line import ANONYMOUS
from kafkadouble.waits.awaited import Awaited, outcome
from kafkadouble.wire.wording import ShownValue

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.running import Running


def armed(running: Running, rule: Rule) -> RuleHandle:
    """Arms a rule. Call it on the thread of the broker. Raises UsageError when it could never
    apply."""
    check(rule, running.broker)
    return RuleHandle(running, running.broker.arm(rule))


def check(rule: Rule, broker: ClusterApi) -> None:
    """Raises UsageError for a rule that could never apply: its broker, its listener, its link or
    its disk does not exist."""
    PLACES[rule.plane](rule, broker)
    id = rule.match.broker
    if id is None or broker.member(id) is not None or (_is_alone(broker) and broker.node.id == id):
        return
    raise UsageError(f"there is no broker {id} that a rule could hold at")


def _is_alone(broker: ClusterApi) -> bool:
    """Whether it is the only node, running or down."""
    return len(broker.node_ids) == 1


def _check_client(rule: Rule, broker: ClusterApi) -> None:
    """A principal, or a mechanism, that no client can have."""
    principal, mechanism = rule.match.principal, rule.match.mechanism
    specs = [spec for specs in broker.all_listeners for spec in specs if spec.bind is not None]
    if principal not in (None, ANONYMOUS) and not any(spec.has_tls or spec.has_sasl for spec in specs):
        problem = "no client is {principal}: on PLAINTEXT listeners each is {anonymous}; give {option}"
        raise UsageError(problem, principal=principal, anonymous=ANONYMOUS, option=SECURITY)
    if mechanism is None:
        return
    # With security alone.
    from kafkadouble.server.security.sasl.listener_mechanisms import enabled_names

    names = {spec.name for spec in specs if spec.has_sasl}
    settings = broker.node.settings
    enabled = list(dict.fromkeys(each for name in sorted(names) for each in enabled_names(settings, name)))
    if mechanism not in enabled:
        raise UsageError(f"there is no mechanism {mechanism!r}: there are {', '.join(enabled) or 'none'}")


def _check_requests(rule: Rule, broker: ClusterApi) -> None:
    _check_client(rule, broker)
    if rule.match.api == EVERY_API or broker.controller is not None or (rule.match.peers and not _is_alone(broker)):
        return
    from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE  # for an error alone

    if rule.match.api not in {served.name for served in TABLE} and rule.match.api in {
        served.name for served in CONTROLLER_TABLE
    }:
        problem = "{api} is served to controllers only, and no client reaches them: give {option}"
        raise UsageError(problem, api=rule.match.api, option=CONTROLLER_PORT)


def _check_connections(rule: Rule, broker: ClusterApi) -> None:
    """A rule for connections may name a listener of clients, or that of controllers if it has a
    socket."""
    _check_client(rule, broker)
    name = rule.match.listener
    names = [spec.name for specs in broker.all_listeners for spec in specs if spec.bind is not None]
    if name is not None and name not in names:
        raise UsageError(f"there is no listener {name!r}: there are {', '.join(dict.fromkeys(names))}")


def _check_link(rule: Rule, broker: ClusterApi) -> None:
    nodes = broker.node_ids
    if _is_alone(broker):
        raise UsageError("there is one node, and so no link between nodes: give {option} or more", option=TWO_BROKERS)
    for id in rule.match.link or ():
        if id is not None and id not in nodes:
            problem = "link of a rule is a pair of nodes of this double, {nodes}, not {link}"
            raise UsageError(problem, nodes=", ".join(map(str, nodes)), link=ShownValue(rule.match.link))


def _check_disk(rule: Rule, broker: ClusterApi) -> None:
    paths = broker.disk_paths
    if not paths:
        raise UsageError("the logs are in memory, and so there is no disk that could fail: give {dir}", dir=DATA_DIR)
    log_dir = rule.match.log_dir
    if log_dir is not None and not any(is_in(path, log_dir) for path in paths):
        raise UsageError(f"there is no log directory {log_dir!r}: there are {', '.join(paths)}")


PLACES: dict[str, Callable[[Rule, ClusterApi], None]] = {
    REQUEST: _check_requests,
    CONNECTION: _check_connections,
    LINK: _check_link,
    DISK: _check_disk,
}
"""By plane: the check that there is a place where the rule applies."""


@given_as("rule handle")
class RuleHandle:
    """An armed fault rule. In a `with` statement, it is removed at the end of the block."""

    def __init__(self, running: Running, armed: Armed) -> None:
        self._running, self._broker, self._armed = running, running.broker, armed

    @property
    def rule(self) -> Rule:
        """The rule as a value."""
        return self._armed.rule

    @property
    def id(self) -> int:
        """The number of the rule, from 1 since the start of the double or its last reset. A program
        that has no handle, such as one in another language, names the rule by it."""
        return self._armed.id

    @property
    def hits(self) -> int:
        """The number of requests that the rule was applied to; of connections, of messages between
        nodes or of operations of a disk, if it is a rule for those."""
        return self._armed.hits

    @property
    def spent(self) -> bool:
        """Whether the rule was applied the full number of times."""
        return self._armed.spent

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions that functions of the rule raised, the latest 1000, oldest first. Each
        fails the test of the pytest plugin, unless the test clears the list."""
        return self._armed.errors

    def wait(self, hits: int = 1, timeout: float = 10) -> None:
        """Waits until the rule was applied so many times. `timeout` is in seconds. Raises
        TimeoutError, which says how much matched."""
        outcome(self._running, applied(self, hits), timeout)

    def release(self) -> None:
        """Releases the requests that the rule holds, and disarms it."""
        self.remove()

    def remove(self) -> None:
        """Disarms the rule, and releases everything that it holds. It may be called again, and
        after a reset or a stop."""
        self._running.on_thread(lambda: self._broker.disarm(self._armed))

    def __enter__(self) -> RuleHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return repr(self._armed)


def handle_of(running: Running, rule: RuleHandle | int) -> RuleHandle:
    """The handle of a rule that is given by its handle, or by its id; the latest 1000 rules are
    known by their ids. Raises UsageError for another id."""
    check_argument(handle=rule)
    if isinstance(rule, RuleHandle):
        return rule
    armed = running.on_thread(lambda: running.broker.faults.register.by_id(rule))
    if armed is None:
        raise UsageError(f"there is no rule with the id {rule} since the start or the last reset")
    return RuleHandle(running, armed)


def applied(handle: RuleHandle, hits: int) -> Awaited[int]:
    """The state in which a rule was applied so many times."""
    check_argument(hits=hits)
    armed = handle._armed
    return Awaited(
        f"{armed.rule!r}, applied {hits} times",
        lambda _: armed.hits,
        lambda found: found >= hits,
        lambda found: f"applied {found} times, {armed.met} {armed.unit} matched",
    )
