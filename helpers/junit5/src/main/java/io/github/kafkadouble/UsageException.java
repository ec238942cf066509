package io.github.kafkadouble;

/** A call that makes no sense. The message says what is allowed. */
public final class UsageException extends KafkaDoubleException {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
        super(message);
    }
}
