package io.github.kafkadouble;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The program ends with the JVM that started it, in whatever way that ends. */
class KilledTests {
    /** Starts a double, prints its address, and waits to be killed. */
    public static final class Starts {
        public static void main(String[] words) throws InterruptedException {
            KafkaDouble kafka = KafkaDouble.builder().start();
            System.out.println(kafka.bootstrapServers());
            Thread.sleep(Duration.ofMinutes(10).toMillis());
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void theProgramEndsWithAKilledJvm() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process other = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Starts.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String address = other.inputReader().readLine();
        int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
        assertTrue(accepts(port));
        other.destroyForcibly().waitFor();
        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            while (accepts(port)) {
                Thread.onSpinWait();
            }
        });
    }

    private static boolean accepts(int port) throws IOException {
        try {
            new Socket("127.0.0.1", port).close();
            return true;
        } catch (SocketException refusedOrReset) {
            return false;
        }
    }
}
