package io.github.kafkadouble;

/** Something that a double refused, or that it could not do. */
public class KafkaDoubleException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    KafkaDoubleException(String message) {
        super(message);
    }

    KafkaDoubleException(String message, Throwable cause) {
        super(message, cause);
    }
}
