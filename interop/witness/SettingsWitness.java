// Judges files of settings by Apache Kafka's own StorageTool and KafkaConfig. A line of stdin is a verb, a file and flags, with tabs
// between them; a line of stdout is "=" for settings that Kafka takes, or "!" and why it refuses them.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Utils;

public class SettingsWitness {
    static final PrintStream ANSWERS = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

    static {
        System.setOut(System.err);  // where Kafka's log goes; before any of its classes is loaded
    }

    public static void main(String[] args) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = questions.readLine()) != null; ) {
            ANSWERS.println(judged(line.split("\t")));
            ANSWERS.flush();
        }
    }

    static String judged(String[] words) {
        try {
            return words[0].equals("format") ? formatted(words) : started(words[1]);
        } catch (Throwable problem) {
            return refusal(problem.getClass().getSimpleName() + ": " + problem.getMessage());
        }
    }

    static String started(String file) throws Exception {
        Properties given = Utils.loadProps(file, null);
        new KafkaConfig(given, false);
        return "=";
    }

    static String formatted(String[] words) {
        List<String> flags = new ArrayList<>(List.of("format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", words[1]));
        flags.addAll(Arrays.asList(words).subList(2, words.length));
        int code = StorageTool.execute(flags.toArray(new String[0]), NOWHERE);
        return code == 0 ? "=" : refusal("exit code " + code);
    }

    static String refusal(String text) {
        return "!" + text.replaceAll("\\s+", " ");
    }
}
