import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Exit;

/**
 * Main classes of Kafka's tools, one after the other in one JVM, as each would run in its own.
 *
 * <p>A line of the input is the main class, what the tool reads, and its words; a line of the output is its exit code, its output and its
 * errors: all but the class and the code in base64, with tabs between. The tools' own classes are loaded again for each call, so that nothing
 * static is left of the one before; Kafka's client and the libraries are loaded once. A tool that ends its JVM ends its thread here: the
 * first exit code counts, and what it says after that is not heard. One that takes too long ends this process.
 */
public final class Resident {
    private static final int SLOW = 124;
    private static final long LIMIT_MS = 60_000;

    private final URL[] fresh;
    private final Redirected out = new Redirected();
    private final Redirected err = new Redirected();
    private final List<Runnable> hooks = new CopyOnWriteArrayList<>();
    private volatile Integer code;

    /** Ends the thread of a tool that calls exit; no tool catches it. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1L;

        Exited() {
            super(null, null, false, false);
        }
    }

    /** A stream whose place changes with each call: code that kept System.out of an earlier call writes to that of this one. */
    private static final class Redirected extends OutputStream {
        private ByteArrayOutputStream into = new ByteArrayOutputStream();
        private boolean heard;

        @Override
        public synchronized void write(int one) {
            if (heard) {
                into.write(one);
            }
        }

        @Override
        public synchronized void write(byte[] some, int from, int count) {
            if (heard) {
                into.write(some, from, count);
            }
        }

        synchronized void begin() {
            into = new ByteArrayOutputStream();
            heard = true;
        }

        synchronized void end() {
            heard = false;
        }

        synchronized byte[] bytes() {
            return into.toByteArray();
        }
    }

    private Resident(URL[] fresh) {
        this.fresh = fresh;
    }

    /** The first word is the folder of the jars whose classes are loaded again. */
    public static void main(String[] words) throws IOException {
        PrintStream answers = System.out;
        Resident resident = new Resident(jars(Path.of(words[0])));
        System.setOut(new PrintStream(resident.out, true, UTF_8));
        System.setErr(new PrintStream(resident.err, true, UTF_8));
        Exit.setExitProcedure((status, message) -> resident.exit(status));
        Exit.setHaltProcedure((status, message) -> resident.exit(status));
        Exit.setShutdownHookAdder((name, hook) -> resident.hooks.add(hook));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            int code = resident.call(line.split("\t", -1));
            answers.println(code + "\t" + encoded(resident.out) + "\t" + encoded(resident.err));
            answers.flush();
            if (code == SLOW) {
                break;
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void exit(int status) {
        if (code == null) {
            code = status;
            out.end();
            err.end();
        }
        throw new Exited();
    }

    private int call(String[] fields) {
        System.setIn(new ByteArrayInputStream(Base64.getDecoder().decode(fields[1])));
        String[] words = Arrays.stream(fields).skip(2).map(Resident::decoded).toArray(String[]::new);
        code = null;
        hooks.clear();
        out.begin();
        err.begin();
        Thread thread = new Thread(() -> run(fields[0], words), "main");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(LIMIT_MS);
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
        if (thread.isAlive()) {
            System.err.println("not done after " + LIMIT_MS + " ms: " + Arrays.toString(thread.getStackTrace()));
            return SLOW;
        }
        out.end();
        err.end();
        return code == null ? 0 : code;
    }

    private void run(String main, String[] words) {
        try (URLClassLoader loader = new URLClassLoader(fresh, Resident.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            try {
                Class.forName(main, true, loader).getMethod("main", String[].class).invoke(null, (Object) words);
            } finally {
                hooks.forEach(Runnable::run);
            }
        } catch (InvocationTargetException thrown) {
            uncaught(thrown.getCause());
        } catch (ReflectiveOperationException | IOException wrong) {
            uncaught(wrong);
        }
    }

    private void uncaught(Throwable thrown) {
        if (!(thrown instanceof Exited) && code == null) {
            thrown.printStackTrace();
            code = 1;
        }
    }

    private static URL[] jars(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            List<URL> found = new ArrayList<>();
            for (Path one : all.sorted().collect(Collectors.toList())) {
                found.add(url(one));
            }
            return found.toArray(URL[]::new);
        }
    }

    private static URL url(Path jar) throws MalformedURLException {
        return jar.toUri().toURL();
    }

    private static String encoded(Redirected stream) {
        return Base64.getEncoder().encodeToString(stream.bytes());
    }

    private static String decoded(String word) {
        return new String(Base64.getDecoder().decode(word), UTF_8);
    }
}
