"""TLS by Kafka's settings: trusted certificates, the client's certificate, and the verification of
the broker's host name.

Rules. The contexts are those that servers make for connections to other nodes
(`server/security/tls/`): stores are PEM, as files or as texts, or PKCS12; JKS is refused, with a
hint how to convert it. A failed authentication of the broker or of the client is NotAuthenticated,
without a retry; a connection that breaks is ConnectionLost.
"""

from __future__ import annotations

import socket
import ssl

from kafkadouble.server.security.tls.contexts import client_context_of

from ..dialing import description
from ..errors import ConnectionLost, NotAuthenticated
from ..names import BrokerEndpoint
from ..settings import ClientSettings


def secured(sock: socket.socket, endpoint: BrokerEndpoint, settings: ClientSettings, seconds: float) -> socket.socket:
    """The socket, encrypted if `security.protocol` requires it."""
    if settings.text("security.protocol") not in ("SSL", "SASL_SSL"):
        return sock
    try:
        sock.settimeout(seconds)
        return context(settings).wrap_socket(sock, server_hostname=endpoint.host)
    except (ssl.SSLCertVerificationError, ssl.CertificateError) as error:
        sock.close()
        why = getattr(error, "verify_message", "") or str(error)
        raise NotAuthenticated(
            f"broker {endpoint} shows a certificate that is not trusted: {why}; look at ssl.truststore.location"
        ) from None
    except ssl.SSLEOFError:
        sock.close()
        raise ConnectionLost(f"broker {endpoint} closed the connection in the TLS handshake") from None
    except ssl.SSLError as error:
        sock.close()
        raise NotAuthenticated(
            f"no TLS with broker {endpoint}: {error.reason or error}; does it listen for TLS?"
        ) from None
    except OSError as error:
        sock.close()
        raise ConnectionLost(f"broker {endpoint} in the TLS handshake: {description(error)}") from None
    except BaseException:
        sock.close()
        raise


def context(settings: ClientSettings) -> ssl.SSLContext:
    """The SSL context of the settings. Raises UsageError."""
    return client_context_of(_ClientTlsSettings(settings), "ssl.ca.location")


class _ClientTlsSettings:
    """The settings of a client. The content of a store decides about its format: other libraries
    have no setting for it."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self.text, self.names = settings.text, settings.names

    def format_of(self, store: str) -> str | None:
        return None

    def shown(self, setting: str) -> str:
        return setting
