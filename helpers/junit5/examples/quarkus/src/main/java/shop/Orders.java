package shop;

import io.smallrye.common.annotation.Identifier;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends orders. It says nothing of where its brokers are. */
@ApplicationScoped
public class Orders {
    private final Map<String, Object> settings;

    Orders(@Identifier("default-kafka-broker") Map<String, Object> settings) {
        this.settings = settings;
    }

    void send(String order) {
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>("orders", order));
        }
    }
}
