package io.github.kafkadouble;

/** An assertion about requests that does not hold. The message shows those that nearly match. */
public final class RequestAssertionError extends AssertionError {
    private static final long serialVersionUID = 1L;

    RequestAssertionError(String message) {
        super(message);
    }
}
