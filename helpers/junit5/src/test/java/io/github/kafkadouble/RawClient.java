package io.github.kafkadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Sends requests that are given in hex, each on a connection of its own. */
final class RawClient implements AutoCloseable {
    private final String host;
    private final int port;
    private final List<Socket> held = new ArrayList<>();

    RawClient(String servers) {
        String[] address = servers.split(",")[0].split(":");
        host = address[0];
        port = Integer.parseInt(address[1]);
    }

    /** Sends a request, and does not wait for its answer. */
    void hold(String frame) throws IOException {
        held.add(sent(frame));
    }

    /** Sends a request until its answer has no error at this offset; 0 takes any answer. */
    void ask(String frame, int errorAt) throws IOException {
        ByteBuffer answer;
        do {
            try (Socket socket = sent(frame)) {
                int size = ByteBuffer.wrap(socket.getInputStream().readNBytes(4)).getInt();
                answer = ByteBuffer.wrap(socket.getInputStream().readNBytes(size));
            }
        } while (errorAt > 0 && answer.getShort(errorAt) != 0);
    }

    private Socket sent(String frame) throws IOException {
        Socket socket = new Socket(host, port);
        socket.getOutputStream().write(HexFormat.of().parseHex(frame));
        return socket;
    }

    @Override
    public void close() throws IOException {
        for (Socket each : held) {
            each.close();
        }
    }

    /** Compares two values as texts. */
    static void same(Object expected, Object actual) {
        assertEquals(text(expected), text(actual));
    }

    private static String text(Object value) {
        return value instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(value);
    }
}
