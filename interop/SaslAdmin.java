import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.SaslAuthenticationException;

/** Describes a cluster with the settings of a file. Ends with 3 if the broker refuses the user. */
public class SaslAdmin {
    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(words[0]))) {
            settings.load(reader);
        }
        try (Admin admin = Admin.create(settings)) {
            admin.describeCluster().nodes().get();
        } catch (ExecutionException problem) {
            if (problem.getCause() instanceof SaslAuthenticationException) {
                System.exit(3);
            }
            throw problem;
        }
    }
}
