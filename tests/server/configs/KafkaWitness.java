// Asks Apache Kafka's own classes about configurations. One question per line of stdin, one answer per line of stdout, both JSON.
// Run by the tests as a single-file program, with Kafka's jars on the class path. It passes on names, types, defaults, bounds and
// verdicts; the documentation texts of Kafka never leave it.

import com.fasterxml.jackson.databind.JsonNode;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.*;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.message.DescribeConfigsRequestData;
import org.apache.kafka.common.message.DescribeConfigsResponseData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.controller.FeatureControlManager;
import org.apache.kafka.controller.QuorumFeatures;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.metadata.ConfigRepository;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.DynamicThreadPool;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.*;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

public class KafkaWitness extends JsonWitness {
    static final Map<String, ConfigDef> TABLES = new LinkedHashMap<>();
    static final KafkaConfigSchema SCHEMA = kafka.server.KafkaRaftServer$.MODULE$.configSchema();

    public static void main(String[] args) throws Exception {
        TABLES.put("broker", AbstractKafkaConfig.CONFIG_DEF);
        TABLES.put("quota", QuotaConfig.brokerQuotaConfigs());
        TABLES.put("topic", LogConfig.configDefCopy());
        TABLES.put("group", GroupConfig.CONFIG_DEF);
        TABLES.put("client_metrics", ClientMetricsConfigs.configDef());
        run(KafkaWitness::answer);
    }

    static Object answer(JsonNode q) throws Exception {
        switch (q.get("op").asText()) {
            case "facts": return facts();
            case "parse": return parse(q);
            case "describe": return describe(q);
            case "created": return created(q);
            case "alter": return alter(q);
            case "properties": return properties(q);
            case "start": config(q); return Map.of("ok", true);
            default: throw new IllegalArgumentException("what?");
        }
    }

    // What the tables say.

    static Object facts() throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        for (Map.Entry<String, ConfigDef> table : TABLES.entrySet()) {
            List<Object> rows = new ArrayList<>();
            for (ConfigDef.ConfigKey key : table.getValue().configKeys().values()) rows.add(row(key));
            answer.put(table.getKey(), rows);
        }
        answer.put("modes", DynamicBrokerConfig.dynamicConfigUpdateModes());
        answer.put("per_listener", SslConfigs.RECONFIGURABLE_CONFIGS);
        Map<String, Object> synonyms = new TreeMap<>();
        ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.forEach((name, all) -> {
            List<Object> pairs = new ArrayList<>();
            for (ConfigSynonym one : all) pairs.add(List.of(one.name(), one.converter().apply("1")));
            synonyms.put(name, pairs);
        });
        answer.put("topic_synonyms", synonyms);
        Map<String, String> brokers = new TreeMap<>();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach((name, broker) -> brokers.put(name, broker.orElse(null)));
        answer.put("group_synonyms", brokers);
        return answer;
    }

    static Object row(ConfigDef.ConfigKey key) throws Exception {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", key.name);
        row.put("type", key.type.toString());
        row.put("required", !key.hasDefault());
        row.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
        row.put("importance", key.importance.toString());
        row.put("internal", key.internalConfig);
        row.put("check", key.validator == null ? null : key.validator.getClass().getSimpleName() + " " + key.validator);
        if (key.validator instanceof ConfigDef.ValidList) {
            row.put("empty", hidden(key.validator, "isEmptyAllowed"));
            row.put("null", hidden(key.validator, "isNullAllowed"));
        }
        return row;
    }

    static Object hidden(Object of, String name) throws Exception {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    static Object parse(JsonNode q) {
        ConfigDef.ConfigKey key = TABLES.get(q.get("table").asText()).configKeys().get(q.get("name").asText());
        Object value = new ConfigDef().define(key).parse(Map.of(key.name, q.get("value").asText())).get(key.name);
        boolean hidden = key.type == ConfigDef.Type.PASSWORD;
        return Collections.singletonMap("value", hidden ? "[hidden]" : ConfigDef.convertToString(value, key.type));
    }

    static Object properties(JsonNode q) throws Exception {
        Properties read = new Properties();
        read.load(new StringReader(q.get("text").asText()));
        return read;
    }

    // A broker with static ("broker"), cluster-wide dynamic ("cluster") and own dynamic ("own") configurations.

    static kafka.server.KafkaConfig config(JsonNode q) {
        kafka.server.KafkaConfig config = new kafka.server.KafkaConfig(props(q.get("broker")), false);
        config.dynamicConfig().initialize(scala.Option.empty());
        config.dynamicConfig().updateDefaultConfig(props(q.get("cluster")), false);
        config.dynamicConfig().updateBrokerConfig(config.brokerId(), props(q.get("own")), false);
        config.dynamicConfig().addBrokerReconfigurable(threads(config));
        return config;
    }

    static BrokerReconfigurable threads(AbstractKafkaConfig config) {
        return new BrokerReconfigurable() {
            public Set<String> reconfigurableConfigs() { return DynamicThreadPool.RECONFIGURABLE_CONFIGS; }
            public void validateReconfiguration(AbstractKafkaConfig next) { DynamicThreadPool.validateReconfiguration(config, next); }
            public void reconfigure(AbstractKafkaConfig old, AbstractKafkaConfig next) { }
        };
    }

    static Properties props(JsonNode node) {
        Properties props = new Properties();
        if (node != null) node.fields().forEachRemaining(e -> props.setProperty(e.getKey(), e.getValue().asText()));
        return props;
    }

    static ConfigRepository repository(JsonNode q) {
        return resource -> props(resource.type() != ConfigResource.Type.BROKER ? q.get("configs")
            : resource.name().isEmpty() ? q.get("cluster") : q.get("own"));
    }

    static Object describe(JsonNode q) {
        MetadataCache everyTopicExists = (MetadataCache) Proxy.newProxyInstance(
            KafkaWitness.class.getClassLoader(), new Class<?>[] {MetadataCache.class}, (self, method, args) -> true);
        DescribeConfigsRequestData.DescribeConfigsResource resource = new DescribeConfigsRequestData.DescribeConfigsResource()
            .setResourceType((byte) q.get("type").asInt()).setResourceName(q.get("name").asText()).setConfigurationKeys(null);
        DescribeConfigsResponseData.DescribeConfigsResult result =
            new kafka.server.ConfigHelper(everyTopicExists, config(q), repository(q)).describeConfigs(
                new scala.collection.immutable.$colon$colon<>(resource, scala.collection.immutable.List$.MODULE$.empty()),
                q.get("synonyms").asBoolean(), false).head();
        if (result.errorCode() != 0) throw new IllegalStateException(result.errorMessage());
        Map<String, Object> entries = new TreeMap<>();
        for (DescribeConfigsResponseData.DescribeConfigsResourceResult entry : result.configs()) {
            List<Object> synonyms = new ArrayList<>();
            entry.synonyms().forEach(s -> synonyms.add(Arrays.asList(s.name(), s.value(), (int) s.source())));
            entries.put(entry.name(), Arrays.asList(entry.value(), entry.readOnly(), (int) entry.configSource(), entry.isSensitive(),
                (int) entry.configType(), synonyms));
        }
        return entries;
    }

    static Object created(JsonNode q) {
        Map<String, Object> entries = new TreeMap<>();
        SCHEMA.resolveEffectiveTopicConfigs(map(q.get("broker")), map(q.get("cluster")), map(q.get("own")), map(q.get("configs")))
            .values().forEach(e -> entries.put(e.name(), Arrays.asList(e.value(), e.isReadOnly(),
                (int) KafkaConfigSchema.translateConfigSource(e.source()).id(), e.isSensitive())));
        return entries;
    }

    static Map<String, String> map(JsonNode node) {
        Map<String, String> map = new LinkedHashMap<>();
        if (node != null) node.fields().forEachRemaining(e -> map.put(e.getKey(), e.getValue().isNull() ? null : e.getValue().asText()));
        return map;
    }

    // IncrementalAlterConfigs: what the broker checks before it forwards, then what the controller does.

    static Object alter(JsonNode q) throws Exception {
        kafka.server.KafkaConfig config = config(q);
        IncrementalAlterConfigsRequestData.AlterConfigsResource resource = new IncrementalAlterConfigsRequestData.AlterConfigsResource()
            .setResourceType((byte) q.get("type").asInt()).setResourceName(q.get("name").asText());
        Map<String, Map.Entry<OpType, String>> changes = new LinkedHashMap<>();
        for (JsonNode change : q.get("changes")) {
            String name = change.get(0).asText(), value = change.get(2).isNull() ? null : change.get(2).asText();
            byte operation = (byte) change.get(1).asInt();
            resource.configs().add(new IncrementalAlterConfigsRequestData.AlterableConfig()
                .setName(name).setConfigOperation(operation).setValue(value));
            changes.put(name, new AbstractMap.SimpleEntry<>(OpType.forId(operation), value));
        }
        IncrementalAlterConfigsRequestData request = new IncrementalAlterConfigsRequestData();
        request.resources().add(resource);
        ApiError early = new kafka.server.ConfigAdminManager(config.nodeId(), config, repository(q))
            .preprocess(request, (kind, name) -> true).get(request.resources().iterator().next());
        return early != null ? verdict(early) : controlled(q, config, resource, changes);
    }

    static Object controlled(JsonNode q, kafka.server.KafkaConfig config, IncrementalAlterConfigsRequestData.AlterConfigsResource of,
                             Map<String, Map.Entry<OpType, String>> changes) throws Exception {
        Class<?> builders = Class.forName("org.apache.kafka.controller.ConfigurationControlManager$Builder");
        var make = builders.getDeclaredConstructor();
        make.setAccessible(true);
        Object builder = make.newInstance();
        Map<String, Object> given = Map.of("setKafkaConfigSchema", SCHEMA, "setStaticConfig", config.originals(),
            "setValidator", new kafka.server.ControllerConfigurationValidator(config), "setNodeId", config.nodeId(),
            "setFeatureControl", features(q.path("elr").asBoolean()),
            "setSupportedConfigChecker", new DefaultSupportedConfigChecker());
        for (Map.Entry<String, Object> one : given.entrySet()) call(builder, one.getKey(), one.getValue());
        Object manager = call(builder, "build");
        String name = of.resourceName();
        for (Map.Entry<Object, Object> old : repository(q).config(resource(of)).entrySet())
            call(manager, "replay", new ConfigRecord().setResourceType(of.resourceType()).setResourceName(name)
                .setName((String) old.getKey()).setValue((String) old.getValue()));
        Object result = call(manager, "incrementalAlterConfig", resource(of), changes, false, true);
        ApiError error = (ApiError) call(result, "response");
        if (error.isFailure()) return verdict(error);
        Map<String, String> records = new TreeMap<>();
        for (Object record : (List<?>) call(result, "records")) {
            ApiMessage written = ((ApiMessageAndVersion) record).message();  // there may be a ClearElrRecord too
            if (written instanceof ConfigRecord one) records.put(one.name(), one.value());
        }
        return Map.of("records", records);
    }

    static FeatureControlManager features(boolean elr) throws Exception {
        QuorumFeatures supported = new QuorumFeatures(1, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(1));
        FeatureControlManager.Builder builder = new FeatureControlManager.Builder();
        call(builder, "setQuorumFeatures", supported);
        FeatureControlManager features = builder.build();
        short latest = MetadataVersion.LATEST_PRODUCTION.featureLevel();
        features.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(latest));
        if (elr) features.replay(new FeatureLevelRecord().setName("eligible.leader.replicas.version").setFeatureLevel((short) 1));
        return features;
    }

    static ConfigResource resource(IncrementalAlterConfigsRequestData.AlterConfigsResource of) {
        return new ConfigResource(ConfigResource.Type.forId(of.resourceType()), of.resourceName());
    }

    static Object verdict(ApiError error) {
        return Map.of("code", error.error().name(), "message", String.valueOf(error.message()));
    }

    static Object call(Object on, String name, Object... args) throws Exception {
        for (Class<?> type = on.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (!method.getName().equals(name) || method.getParameterCount() != args.length) continue;
                method.setAccessible(true);
                try {
                    return method.invoke(on, args);
                } catch (java.lang.reflect.InvocationTargetException problem) {
                    throw (Exception) problem.getCause();
                }
            }
        }
        throw new NoSuchMethodException(name);
    }
}
