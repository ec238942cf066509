package io.github.kafkadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramTests {
    private static final String MISSING = "uv tool install 'kafkadouble[control]'";

    private static String program(Path folder, String name) throws IOException {
        Path made = Files.createFile(Files.createDirectories(folder).resolve(name));
        assertTrue(made.toFile().setExecutable(true));
        return made.toString();
    }

    @Test
    void theProgramIsFoundWhereInstallersPutIt(@TempDir Path path, @TempDir Path home) throws IOException {
        Path own = home.resolve(".local").resolve("bin");
        Program program = new Program(Map.of("PATH", path.toString()), home, false);
        assertTrue(assertThrows(StartException.class, () -> program.words(null)).getMessage().contains(MISSING));
        String uvx = program(own, "uvx");
        assertEquals(List.of(uvx, "--from", "kafkadouble[control]", "kafkadouble"), program.words(null));
        String installed = program(own, "kafkadouble");
        assertEquals(List.of(installed), program.words(null));
        String onPath = program(path, "kafkadouble");
        assertEquals(List.of(onPath), program.words(null));
        Program named = new Program(Map.of("PATH", path.toString(), "KAFKADOUBLE", uvx), home, false);
        assertEquals(List.of(uvx), named.words(null));
        assertEquals(List.of(installed), named.words(installed));
        assertThrows(StartException.class, () -> named.words("/nowhere/kafkadouble"));
    }
}
