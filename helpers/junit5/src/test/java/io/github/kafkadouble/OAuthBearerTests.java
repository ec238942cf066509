package io.github.kafkadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;

@KafkaDoubleTest(security = "SASL_PLAINTEXT", oauthbearer = "unsecured")
class OAuthBearerTests {
    @Test
    void aClientLogsInByAToken(KafkaDouble kafka) throws Exception {
        try (Admin admin = Admin.create(kafka.clientSettings("alice", Map.of()))) {
            assertEquals(1, admin.describeCluster().nodes().get().size());
        }
        assertEquals(3, kafka.bearerToken("alice").split("\\.", -1).length);
        assertEquals(List.of("User:alice"), kafka.requests(Params.apis("DescribeCluster")).stream().map(each -> each.principal()).distinct().toList());
    }
}
