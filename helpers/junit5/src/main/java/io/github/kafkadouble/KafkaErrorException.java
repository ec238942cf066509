package io.github.kafkadouble;

/** An error of Kafka, as a broker would send it to a client. */
public final class KafkaErrorException extends KafkaDoubleException {
    private static final long serialVersionUID = 1L;

    private final int code;
    private final String name;

    KafkaErrorException(int code, String name, String message) {
        super(message);
        this.code = code;
        this.name = name;
    }

    /** Kafka's number of the error. */
    public int code() {
        return code;
    }

    /** Kafka's name of the error, such as UNKNOWN_TOPIC_OR_PARTITION. */
    public String name() {
        return name;
    }
}
