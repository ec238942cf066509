package shop;

import static io.github.kafkadouble.Params.*;

import io.github.kafkadouble.KafkaDouble;
import io.github.kafkadouble.KafkaDoubleResource;
import io.quarkus.test.common.ResourceArg;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(
        value = KafkaDoubleResource.class,
        initArgs = {
            @ResourceArg(name = "topics", value = "orders:2;invoices"),
            @ResourceArg(name = "security", value = "SASL_SSL"),
            @ResourceArg(name = "users", value = "shop:secret;audit:other")
        })
class SecuredOrdersTest {
    KafkaDouble kafka;

    @Inject
    Orders orders;

    @Test
    void theApplicationIsTheUser() {
        orders.send("two pears");
        kafka.assertSeen(apis("Produce"), principal("User:shop"));
    }
}
