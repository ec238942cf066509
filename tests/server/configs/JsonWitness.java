// The common part of programs that ask Apache Kafka's own classes: one question per line of stdin, one answer per line of stdout,
// both JSON. The tests compile this class, and run each program as a single file with Kafka's jars and this class on the class path.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

public abstract class JsonWitness {
    private static final PrintStream ANSWERS = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    static {
        System.setOut(System.err);  // where Kafka's log goes; before any of its classes is loaded
    }

    public static final ObjectMapper JSON = new ObjectMapper();

    public interface Answering {
        Object answer(JsonNode question) throws Throwable;
    }

    // Answers every question; an exception is answered with its class and its message.
    public static void run(Answering answering) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = questions.readLine()) != null; ) {
            Object answer;
            try {
                answer = answering.answer(JSON.readTree(line));
            } catch (Throwable problem) {
                answer = Map.of("class", problem.getClass().getSimpleName(), "error", String.valueOf(problem.getMessage()));
            }
            ANSWERS.println(JSON.writeValueAsString(answer));
            ANSWERS.flush();
        }
        System.exit(0);  // threads of Kafka's classes may still run
    }
}
