"""Mutations of the authorizer, and of how it divides the requests of clients (KIP-11, KIP-290); of
the keys of signed tokens, of sessions, and of secrets in captures."""

from __future__ import annotations

from .mutation import Mutation

_HERE = "tests/server/security/test_"
_AUTHORIZER, _INDEX, _RIGHTS = (f"{_HERE}{name}.py" for name in ("authorizer", "acl_index", "client_rights"))
_HANDSHAKE, _CONTEXTS = (f"tests/server/security/tls/test_{name}.py" for name in ("handshake_check", "contexts"))

_KEYS = "tests/server/security/sasl/test_remote_keys.py"

SECURITY = {
    "authorizer: an ACL that denies is no stronger than one that allows": Mutation(
        "server/security/authorizer.py",
        "return not _denied(own, operation) and _allowed(own, operation)",
        "return _allowed(own, operation)",
        (_AUTHORIZER,),
        "a client does what an ACL denies",
    ),
    "authorizer: a decision outlives an ACL": Mutation(
        "server/security/authorizer.py",
        "            self._acls = image.acls\n            self._forget_decisions()\n",
        "            self._acls = image.acls\n",
        (_RIGHTS,),
        "a client is refused after it got the right, or may go on after it lost it",
    ),
    "authorizer: the index forgets the length of a prefix too early": Mutation(
        "server/security/acl_index.py",
        "        if not lengths[length]:\n",
        "        if True:\n",
        (_INDEX,),
        "of two prefixes of one length the second no longer covers anything",
    ),
    "rights: a fetch session is checked only when it begins": Mutation(
        "server/handlers/fetch.py",
        "    if node.authorizer is not None and (rights := client_rights(node, request)) is not None:\n",
        "    if body.session_epoch < 1 and (rights := client_rights(node, request)) is not None:\n",
        (_RIGHTS,),
        "a consumer reads on after it lost the right",
    ),
    "rights: a refused topic is auto-created": Mutation(
        "server/handlers/metadata.py",
        "name in known or name in hidden or problem_with_name(name) is not None",
        "name in known or problem_with_name(name) is not None",
        (_RIGHTS,),
        "a client without CREATE creates a topic",
    ),
    "tls: a new certificate need not suit brokers that have the old settings": Mutation(
        "server/security/tls/listener_contexts.py",
        "    return handshake_problem(before.context, after.peer) or handshake_problem(after.context, before.peer)\n",
        "    return handshake_problem(before.context, after.peer)\n",
        (_HANDSHAKE,),
        "while brokers are altered one after another, they cannot connect",
    ),
    "tls: with SASL every listener requires certificates of clients": Mutation(
        "server/security/tls/contexts.py",
        "security_protocols(settings).get(listener_name) == SASL_SSL",
        "False",
        (_CONTEXTS,),
        "clients without certificates are refused, although they log in",
    ),
    "keys: a missing key has its set fetched for every token": Mutation(
        "server/security/sasl/remote_keys.py",
        "        if now < max(self._next_at, self._missing.get(key_id, 0)):\n            return\n",
        "",
        (_KEYS,),
        "a client without a right has the issuer asked as often as it likes",
    ),
    "keys: each name of a missing key has its set fetched": Mutation(
        "server/security/sasl/remote_keys.py",
        "max(self._next_at, self._missing.get(key_id, 0))",
        "self._missing.get(key_id, 0)",
        (_KEYS,),
        "a client without a right has the issuer asked as often as it likes, with another name each time",
    ),
    "keys: a fetch that fails for good is not followed by another": Mutation(
        "server/security/sasl/remote_keys.py",
        "        self._is_busy = False\n        self._at(now + self.endpoint.refresh_ms, self._begin)\n\n    def _begin",
        "        self._at(now + self.endpoint.refresh_ms, self._begin)\n\n    def _begin",
        (_KEYS,),
        "the keys stay for ever after one failure",
    ),
    "sessions: a token that has expired within the skew has a session": Mutation(
        "server/security/sasl/server_authenticator.py",
        "now + (lifetime_ms or -1)",
        "now + lifetime_ms",
        ("tests/server/security/sasl/test_server_authenticator.py",),
        "a client goes on with a token that has expired",
    ),
    "captures: frames with credentials are kept": Mutation(
        "server/tracing/secret_frames.py",
        "    if api_key in OF_CREDENTIALS:\n        return True\n",
        "",
        ("tests/server/tracing/test_secret_frames.py",),
        "a capture has passwords",
    ),
    "the control plane: a token makes every host allowed": Mutation(
        "src/kafkadouble/control/http/hosts.py",
        "        return is_loopback(name) or self._is_given(name) or (self._has_token and _is_private(name))\n",
        "        return is_loopback(name) or self._is_given(name) or self._has_token\n",
        ("tests/control/test_guard.py",),
        "a page of another site reads what needs no token, under a name that it leads to this machine",
    ),
    "the control plane: a domain allows names that only end like it": Mutation(
        "src/kafkadouble/control/http/hosts.py",
        'f".{name}".endswith(each)',
        "name.endswith(each[1:])",
        ("tests/control/test_guard.py",),
        "an attacker registers a name that ends like an allowed one",
    ),
    "controllers: a client without a right learns which users have SCRAM credentials": Mutation(
        "server/handlers/describe_user_scram_credentials.py",
        "    if request.peer.is_at_controller:\n",
        "    if False:\n",
        ("tests/server/handlers/test_at_controllers.py",),
        "the controller answers what Kafka's does not",
    ),
    "dispatch: only requests whose rights are checked are prechecked": Mutation(
        "server/dispatch.py",
        "None if served.precheck is None else",
        "None if served.precheck is None or node.authorizer is None else",
        ("tests/server/handlers/test_prechecks.py",),
        "a broker without an authorizer serves the APIs of groups that its cluster does not have",
    ),
    "Parquet: the rows of a batch do not follow from the longest value": Mutation(
        "pipeline/traffic/bounded_parquet.py",
        "        of_row += longest if",
        "        of_row += FIXED_BYTES if",
        ("tests/pipeline/traffic/test_bounded_parquet.py",),
        "a file of 4 kB takes 12 GB",
    ),
    "open pages: a large view is made as often as a small one": Mutation(
        "src/kafkadouble/control/views/shared_views.py",
        "max(PAUSE_S, len(text) / BYTES_PER_S, ",
        "max(PAUSE_S, ",
        ("tests/control/test_shared_views.py",),
        "one page on many partitions takes most of a processor",
    ),
}
