package io.github.kafkadouble;

/** A wait that ended before its state was reached. The message says what there was instead. */
public final class WaitTimeoutException extends KafkaDoubleException {
    private static final long serialVersionUID = 1L;

    WaitTimeoutException(String message) {
        super(message);
    }
}
