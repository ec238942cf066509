package io.github.kafkadouble;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A running `kafkadouble serve`. Its output is read all the time, so that it never blocks. It ends
 * when its stdin does, of which this JVM holds the other end: so after every shutdown hook, and also
 * when the JVM is killed.
 */
final class ServeProcess {
    static final String LAST_LINE = "control.url";
    private static final int MOST_STDERR = 64 << 10;

    private final Process process;
    private final Map<String, String> values = new ConcurrentHashMap<>();
    private final CountDownLatch complete = new CountDownLatch(1);
    private final CountDownLatch stderrRead = new CountDownLatch(1);
    private final StringBuilder stderr = new StringBuilder();

    ServeProcess(List<String> program, List<String> arguments, List<String> users, String token) {
        List<String> command = new ArrayList<>(program);
        command.addAll(List.of("serve", "--port", "0", "--control-port", "0", "--until-stdin-ends"));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("KAFKADOUBLE_CONTROL_TOKEN", token);
        if (!users.isEmpty()) { // other users of the machine can read a command line
            builder.environment().put("KAFKADOUBLE_USERS", String.join("\n", users));
        }
        try {
            process = builder.start();
        } catch (IOException problem) {
            throw new StartException(program.get(0) + " cannot be started: " + problem.getMessage() + ". " + Program.HOW_TO_INSTALL, problem);
        }
        follow(process.getInputStream(), this::onLine, complete::countDown);
        follow(process.getErrorStream(), this::onStderr, stderrRead::countDown);
    }

    private static void follow(InputStream stream, java.util.function.Consumer<String> onLine, Runnable atEnd) {
        Thread reader = new Thread(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    onLine.accept(line);
                }
            } catch (IOException closed) {
                // The program has ended.
            } finally {
                atEnd.run();
            }
        });
        reader.setDaemon(true);
        reader.start();
    }

    private void onLine(String line) {
        int at = line.indexOf('=');
        if (at > 0) {
            values.put(line.substring(0, at), line.substring(at + 1));
            if (line.startsWith(LAST_LINE + "=")) {
                complete.countDown();
            }
        }
    }

    private void onStderr(String line) {
        synchronized (stderr) {
            stderr.append(line).append('\n');
            stderr.delete(0, Math.max(0, stderr.length() - MOST_STDERR));
        }
    }

    String stderr() {
        synchronized (stderr) {
            return stderr.toString();
        }
    }

    /** Returns once the program has printed its lines. */
    void awaitLines(Duration timeout) throws InterruptedException {
        boolean inTime = complete.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
        if (values.get(LAST_LINE) == null) {
            if (inTime) {
                stderrRead.await(1, TimeUnit.SECONDS); // stdout has ended: so will stderr, which says why
            }
            throw StartException.of(inTime ? "the program has ended" : "the program is not ready", stderr());
        }
    }

    String value(String name) {
        return values.get(name);
    }

    void stop() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
