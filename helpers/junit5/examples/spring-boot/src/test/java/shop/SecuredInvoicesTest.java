package shop;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;

import io.github.kafkadouble.KafkaDouble;
import io.github.kafkadouble.KafkaDoubleTest;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@KafkaDoubleTest(topics = "orders", security = "SASL_SSL", users = "shop:secret")
class SecuredInvoicesTest {
    @Test
    void theApplicationIsTheUser(KafkaDouble kafka) {
        kafka.produce("orders", value("two pears"));
        assertEquals("invoice for two pears", kafka.waitForRecords("invoices").get(0).text());
        kafka.assertSeen(apis("Produce"), principal("User:shop"));
    }
}
