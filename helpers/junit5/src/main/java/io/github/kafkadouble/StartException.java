package io.github.kafkadouble;

/** The program was not found, or did not start. The message has what it wrote on stderr. */
public final class StartException extends KafkaDoubleException {
    private static final long serialVersionUID = 1L;

    StartException(String message) {
        super(message);
    }

    StartException(String message, Throwable cause) {
        super(message, cause);
    }

    static StartException of(String message, String stderr) {
        return new StartException(stderr.isEmpty() ? message : message + "; its stderr:\n" + stderr);
    }
}
