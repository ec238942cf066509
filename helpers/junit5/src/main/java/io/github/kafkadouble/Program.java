package io.github.kafkadouble;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where the program kafkadouble is. In this order: the path that is given, the environment variable
 * KAFKADOUBLE, the PATH, where `uv tool install` and `pipx install` put programs, and at last uv's
 * `uvx`, which gets and runs it without an installation.
 */
final class Program {
    static final String VARIABLE = "KAFKADOUBLE";
    private static final String EXTRA = "kafkadouble[control]";
    static final String HOW_TO_INSTALL =
            "Install it with `uv tool install '" + EXTRA + "'` or `pip install '" + EXTRA + "'`, install uv, which then runs "
                    + "it, or give its path in the environment variable " + VARIABLE;

    private final Map<String, String> environment;
    private final Path home;
    private final boolean windows;

    Program(Map<String, String> environment, Path home, boolean windows) {
        this.environment = environment;
        this.home = home;
        this.windows = windows;
    }

    static Program ofThisMachine() {
        boolean windows = File.separatorChar == '\\';
        return new Program(System.getenv(), Path.of(System.getProperty("user.home")), windows);
    }

    /** The words that start it. Throws StartException. */
    List<String> words(String path) {
        String given = path != null ? path : environment.getOrDefault(VARIABLE, "");
        if (!given.isEmpty()) {
            if (!Files.isExecutable(Path.of(given))) {
                throw new StartException(given + " is no program. " + HOW_TO_INSTALL);
            }
            return List.of(given);
        }
        return find("kafkadouble").map(List::of)
                .or(() -> find("uvx").map(uvx -> List.of(uvx, "--from", EXTRA, "kafkadouble")))
                .orElseThrow(() -> new StartException("There is no program kafkadouble on the PATH. " + HOW_TO_INSTALL));
    }

    private Optional<String> find(String name) {
        List<Path> folders = new ArrayList<>();
        String path = environment.getOrDefault("PATH", environment.getOrDefault("Path", ""));
        for (String folder : path.split(Pattern.quote(File.pathSeparator))) {
            if (!folder.isEmpty()) {
                folders.add(Path.of(folder));
            }
        }
        folders.add(home.resolve(".local").resolve("bin"));
        return folders.stream()
                .map(folder -> folder.resolve(windows ? name + ".exe" : name))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .map(Path::toString)
                .findFirst();
    }
}
