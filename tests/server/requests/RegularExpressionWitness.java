// Asks RE2/J, which Apache Kafka's brokers match with. One question per line of stdin, one answer per line of stdout, both JSON:
// {"pattern": ..., "texts": [...]} -> {"matches": [...]} or {"error": the exception}.
// Run by the tests as a single-file program, with Kafka's jars on the class path.

import com.fasterxml.jackson.databind.JsonNode;
import com.google.re2j.Pattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public class RegularExpressionWitness extends JsonWitness {
    public static void main(String[] args) throws Exception {
        run(RegularExpressionWitness::answer);
    }

    static Object answer(JsonNode question) {
        try {
            Pattern pattern = Pattern.compile(question.get("pattern").asText());
            List<Boolean> matches = new ArrayList<>();
            for (JsonNode text : question.get("texts")) matches.add(pattern.matcher(text.asText()).matches());
            return Map.of("matches", matches);
        } catch (Exception | StackOverflowError problem) {
            return Map.of("error", problem.getClass().getSimpleName(), "message", String.valueOf(problem.getMessage()));
        }
    }
}
