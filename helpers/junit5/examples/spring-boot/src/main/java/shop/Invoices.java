package shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;

/** Writes an invoice for each order. It says nothing of where its brokers are. */
@SpringBootApplication
public class Invoices {
    private final KafkaTemplate<String, String> kafka;

    Invoices(KafkaTemplate<String, String> kafka) {
        this.kafka = kafka;
    }

    @KafkaListener(topics = "orders", groupId = "invoices", properties = "auto.offset.reset=earliest")
    void onOrder(String order) {
        kafka.send("invoices", "invoice for " + order);
    }
}
