package io.github.kafkadouble;

/**
 * The last requests that the brokers received. It is a suppressed exception of the failure of a test,
 * so that every test runner shows it.
 */
public final class LastRequests extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LastRequests(String report) {
        super(report, null, false, false);
    }
}
