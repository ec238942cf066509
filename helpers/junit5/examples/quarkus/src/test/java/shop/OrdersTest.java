package shop;

import static org.junit.jupiter.api.Assertions.*;

import io.github.kafkadouble.KafkaDouble;
import io.github.kafkadouble.KafkaDoubleResource;
import io.quarkus.test.common.ResourceArg;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(value = KafkaDoubleResource.class, initArgs = @ResourceArg(name = "topics", value = "orders"))
class OrdersTest {
    KafkaDouble kafka;

    @Inject
    Orders orders;

    @BeforeEach
    void reset() {
        kafka.reset();
    }

    @Test
    void anOrderIsSent() {
        orders.send("two pears");
        assertEquals("two pears", kafka.waitForRecords("orders").get(0).text());
    }
}
