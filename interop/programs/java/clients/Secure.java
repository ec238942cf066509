package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What Kafka's Java client meets on a broker that asks who it is: an attempt for each line of the input, an object for each attempt. */
public final class Secure {
    private static final String MODULES = "org.apache.kafka.common.security.";

    private Secure() { }

    public static void main(String[] words) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(attempt(line.split("\t", -1)));
        }
    }

    private static String attempt(String[] fields) {
        long began = System.nanoTime();
        String error = "";
        String about = "";
        double throttleMs = -1;
        try (KafkaProducer<byte[], byte[]> producer =
                 new KafkaProducer<>(settings(fields), new ByteArraySerializer(), new ByteArraySerializer())) {
            try {
                for (int left = Integer.parseInt(fields[8]); left > 0; left--) {
                    producer.send(new ProducerRecord<>(fields[7], new byte[Integer.parseInt(fields[9])])).get();
                }
            } finally {
                throttleMs = producer.metrics().values().stream()
                    .filter(metric -> metric.metricName().name().equals("produce-throttle-time-max"))
                    .mapToDouble(metric -> (Double) metric.metricValue()).filter(Double::isFinite).max().orElse(0);
            }
        } catch (ExecutionException failure) {
            error = failure.getCause().getClass().getSimpleName();
            about = String.valueOf(failure.getCause().getMessage());
        } catch (InterruptedException | RuntimeException failure) {
            error = failure.getClass().getSimpleName();
            about = String.valueOf(failure.getMessage());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        return "{\"error\": \"" + error + "\", \"seconds\": " + seconds + ", \"throttle_ms\": " + throttleMs
            + ", \"about\": \"" + about.replaceAll("[\\\\\"\\p{Cntrl}]", " ") + "\"}";
    }

    private static Properties settings(String[] fields) {
        Properties given = new Properties();
        given.put("bootstrap.servers", fields[0]);
        given.put("security.protocol", fields[1]);
        given.put("batch.size", "0");
        given.put("acks", "all");
        if (fields[1].startsWith("SASL")) {
            given.put("sasl.mechanism", fields[2]);
            given.put("sasl.jaas.config", login(fields[2], fields[3], fields[4]));
            if (fields[2].equals("OAUTHBEARER")) {
                TokenLogin.setToken(fields[3], fields[4]);
                given.put("sasl.login.callback.handler.class", TokenLogin.class.getName());
            }
        }
        if (fields[1].endsWith("SSL")) {
            given.putAll(Map.of("ssl.truststore.type", "PEM", "ssl.truststore.location", fields[5]));
            if (!fields[6].isEmpty()) {
                given.putAll(Map.of("ssl.keystore.type", "PEM", "ssl.keystore.location", fields[6]));
            }
        }
        return given;
    }

    private static String login(String mechanism, String user, String secret) {
        if (mechanism.equals("OAUTHBEARER")) {
            return MODULES + "oauthbearer.OAuthBearerLoginModule required;";
        }
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        return MODULES + module + " required username=\"" + user + "\" password=\"" + secret + "\";";
    }
}
