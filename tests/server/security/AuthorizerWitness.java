// Runs Apache Kafka's own StandardAuthorizer: one operation per line of stdin, and one answer per line of stdout, both JSON.
// Run by the tests as a single-file program, with Kafka's jars on the class path.
//
// "begin" makes an authorizer with ACLs; "add" and "remove" change them. "ask" has the decisions of questions, "any" those
// about some resource of a type, and "time" the nanoseconds that a number of rounds of the questions took.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.internals.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

public class AuthorizerWitness extends JsonWitness {
    static StandardAuthorizer authorizer;

    public static void main(String[] args) throws Exception {
        run(AuthorizerWitness::answer);
    }

    static Object answer(JsonNode question) throws Exception {
        switch (question.get("op").asText()) {
            case "begin" -> begin(question);
            case "add" -> add(question.get("acls"));
            case "remove" -> question.get("ids").forEach(id -> authorizer.removeAcl(new Uuid(0, id.asLong())));
            case "ask" -> {
                return decisions(question.get("questions"));
            }
            case "any" -> {
                List<Boolean> found = new ArrayList<>();
                for (JsonNode each : question.get("questions"))
                    found.add(authorizer.authorizeByResourceType(context(each), operation(each), type(each.get(3)))
                        == AuthorizationResult.ALLOWED);
                return found;
            }
            case "time" -> {
                return time(question.get("questions"), question.get("rounds").asInt());
            }
            default -> throw new IllegalArgumentException(question.toString());
        }
        return true;
    }

    static void begin(JsonNode question) {
        authorizer = new StandardAuthorizer();
        authorizer.configure(Map.of("super.users", question.get("super_users").asText(),
            "allow.everyone.if.no.acl.found", question.get("open").asText(), "node.id", "1"));
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        add(question.get("acls"));
        authorizer.completeInitialLoad();
    }

    static void add(JsonNode acls) {
        for (JsonNode acl : acls)
            authorizer.addAcl(new Uuid(0, acl.get(0).asLong()), new StandardAcl(type(acl.get(1)), acl.get(2).asText(),
                PatternType.fromCode((byte) acl.get(3).asInt()), acl.get(4).asText(), acl.get(5).asText(),
                AclOperation.fromCode((byte) acl.get(6).asInt()), AclPermissionType.fromCode((byte) acl.get(7).asInt())));
    }

    static List<Boolean> decisions(JsonNode questions) throws Exception {
        List<Boolean> found = new ArrayList<>();
        for (JsonNode each : questions)
            found.add(authorizer.authorize(context(each), List.of(action(each))).get(0) == AuthorizationResult.ALLOWED);
        return found;
    }

    static long time(JsonNode questions, int rounds) throws Exception {
        List<AuthorizableRequestContext> contexts = new ArrayList<>();
        List<List<Action>> actions = new ArrayList<>();
        for (JsonNode each : questions) {
            contexts.add(context(each));
            actions.add(List.of(action(each)));
        }
        long begun = System.nanoTime();
        for (int round = 0; round < rounds; round++)
            for (int at = 0; at < actions.size(); at++)
                authorizer.authorize(contexts.get(at), actions.get(at));
        return System.nanoTime() - begun;
    }

    static Action action(JsonNode each) {
        ResourcePattern resource = new ResourcePattern(type(each.get(3)), each.get(4).asText(), PatternType.LITERAL);
        return new Action(operation(each), resource, 1, false, false);
    }

    static AclOperation operation(JsonNode each) {
        return AclOperation.fromCode((byte) each.get(2).asInt());
    }

    static ResourceType type(JsonNode code) {
        return ResourceType.fromCode((byte) code.asInt());
    }

    static AuthorizableRequestContext context(JsonNode each) throws Exception {
        Object principal = SecurityUtils.parseKafkaPrincipal(each.get(0).asText());
        InetAddress address = InetAddress.getByName(each.get(1).asText());
        return (AuthorizableRequestContext) Proxy.newProxyInstance(AuthorizerWitness.class.getClassLoader(),
            new Class<?>[] {AuthorizableRequestContext.class}, (proxy, method, args) -> switch (method.getName()) {
                case "principal" -> principal;
                case "clientAddress" -> address;
                case "requestType" -> 3;
                default -> null;
            });
    }
}
