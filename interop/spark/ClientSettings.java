import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Prints the name of every setting of Kafka's consumer and producer, and which of the two has it. */
public class ClientSettings {
    public static void main(String[] args) {
        var consumer = ConsumerConfig.configDef().names();
        var producer = ProducerConfig.configDef().names();
        var all = new TreeSet<>(consumer);
        all.addAll(producer);
        for (var name : all) {
            var both = consumer.contains(name) && producer.contains(name);
            System.out.println(name + " " + (both ? "client" : consumer.contains(name) ? "consumer" : "producer"));
        }
    }
}
