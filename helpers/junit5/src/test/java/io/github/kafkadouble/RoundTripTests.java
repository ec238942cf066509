// Made by helpers/generate; do not edit.

package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static io.github.kafkadouble.RawClient.same;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundTripTests {
    @Test
    void whatVerbsReturnIsGivenBack(@TempDir Path folder) throws IOException {
        Path scenario = Files.writeString(folder.resolve("scenario.toml"), "[[steps]]\nat = 3600\nverb = 'roll'\ntopic = 'orders'\npartition = 0\n");
        var builder = KafkaDouble.builder()
                .scenario(scenario)
                .arguments("--data-dir", folder.resolve("data").toString())
                .arguments("--brokers", "3", "--topic", "orders:2:3", "--acl", "User:ANONYMOUS allow ALL topic:*", "--telemetry", "--super-user", "User:ANONYMOUS", "-c", "offsets.topic.num.partitions=1", "-c", "transaction.state.log.num.partitions=1", "-c", "group.initial.rebalance.delay.ms=0");
        try (var kafka = builder.start();
                var client = new RawClient(kafka.bootstrapServers())) {
            // A request that waits, until the test ends
            var held = kafka.pause("ApiVersions", clientId("waits"));
            client.hold("0000000f001200000000000100057761697473");
            kafka.waitForRule(held);

            // Requests
            client.ask("0000000e0012000000000001000461736b73", 0);
            var all = kafka.requests(apis("ApiVersions"));
            same("waiting", all.get(0).outcome());
            same("null", all.get(0).took());
            same("pause", all.get(0).rules().get(0));
            same("asks", all.get(1).clientId());
            var first = kafka.waitForRequest("ApiVersions", clientId("waits"));
            var later = kafka.assertSeen(apis("ApiVersions"), times(1), since(first));
            kafka.requests(since(first));
            kafka.waitForRequest("ApiVersions", since(first));
            kafka.assertNotSeen(apis("ApiVersions"), since(later.get(0)));
            var answers = kafka.respond("ApiVersions", later.get(0).answer(), clientId("asks"));
            client.ask("0000000e0012000000000001000461736b73", 0);
            kafka.waitForRule(answers);
            kafka.unusedRules();
            client.ask("000000190003000400000001000461736b730000000100047479706f01", 0);
            var found = kafka.lint();
            same("topic-created-by-accident", found.get(0).rule());
            same("Metadata", found.get(0).requests().get(0).api());
            kafka.lint(ignore(found.get(0).rule()));

            // Records
            var at = kafka.produce("orders", value("pears"), key("a"), headers(Map.of("trace", "7")), partition(1), timestamp(7));
            same("0", at);
            var records = kafka.records("orders");
            same("pears", records.get(0).value());
            same("7", records.get(0).headers().get(0).value());
            kafka.produceAll("orders", records, partition(1));
            kafka.produce("orders", value(records.get(0).value()), key(records.get(0).key()), headers(records.get(0).headers()), partition(records.get(0).partition()), timestamp(records.get(0).timestamp()));
            var copies = kafka.waitForRecords("orders", count(3));
            same("7", copies.get(2).timestamp());
            same("7", copies.get(2).headers().get(0).value());
            same("a", copies.get(2).key());
            var ends = kafka.endOffsets("orders");
            same("3", ends.get(1));
            var newer = kafka.records("orders", since(records), key(records.get(0).key()), header("trace"));
            same("1", newer.get(0).offset());
            kafka.produce("orders", value("plums"), partition(1));
            var newest = kafka.waitForRecords("orders", since(ends), value("plums"));
            same("3", newest.get(0).offset());
            kafka.epochs("orders", 1);
            kafka.flush("orders", 1);
            kafka.truncate("orders", 1, copies.get(2).offset());
            kafka.roll("orders", 1);
            kafka.retain("orders");

            // Partitions, brokers and ACLs
            var topics = kafka.topics();
            kafka.createTopic("copy", config(topics.get("orders").configs()), replicationFactor(3));
            var state = kafka.partition("orders", 0);
            kafka.waitForIsr("orders", 0, state.isr());
            kafka.reassign("orders", 0, state.replicas());
            var isr = kafka.isr("orders", 0);
            kafka.waitForIsr("orders", 0, isr);
            var bumped = kafka.bumpEpoch("orders", 0);
            kafka.waitForLeader("orders", 0, epoch(bumped));
            kafka.leader("orders", 0);
            kafka.leaderEpoch("orders", 0);
            kafka.moveLeader("orders", 0, state.isr().get(1));
            var elected = kafka.electLeaders(topic("orders"));
            same("1", elected.get("orders").get(0));
            var cluster = kafka.describeCluster();
            same("false", cluster.brokers().get(1).isFenced());
            same("running", cluster.brokers().get(1).state());
            var added = kafka.addBroker();
            kafka.waitForBroker(added);
            kafka.bootstrapOnBroker(added, "PLAINTEXT");
            kafka.removeBroker(added);
            kafka.bootstrap("PLAINTEXT");
            var steps = kafka.scenarioSteps();
            same("pending", steps.get(0).state());
            same("null", steps.get(0).problem());
            kafka.metrics();
            kafka.telemetry();
            kafka.clientConfig();
            kafka.expireSaslSessions();
            var acls = kafka.acls();
            var deleted = kafka.deleteAcls(acls);
            kafka.createAcls(deleted);

            // Groups
            client.ask("00000017000a000400000001000461736b730000020573686f7000", 0);
            kafka.commitOffsets("shop", Map.of(new TopicPartition("orders", 1), 2));
            kafka.moveCoordinator("shop", 1);
            var groups = kafka.groups();
            same("null", groups.get("shop").epoch());
            same("2", groups.get("shop").offsets().get("orders").get(1).offset());
            kafka.commitOffsets("other", groups.get("shop").offsets());
            var reset = kafka.resetOffsets("other", "orders", "earliest");
            kafka.commitOffsets("other", reset);
            var other = kafka.waitForGroup("other");
            kafka.waitForGroup("other", state(other.state()));
            kafka.commitOffsets("other", Map.of(new TopicPartition("orders", 1), groups.get("shop").offsets().get("orders").get(1)));
            client.ask("0000002f0044000100000001000461736b73000872656164657273026d000000000000000003e802076f726465727300000100", 9);
            var readers = kafka.waitForGroup("readers", members(1));
            same("consumer", readers.type());
            same(readers.members().get(0).epoch(), readers.assignmentEpoch());
            same("1", readers.members().get(0).assignment().get(1).partition());
            kafka.setAssignment("readers", Map.of(readers.members().get(0).id(), readers.members().get(0).assignment()));
            kafka.expireMember("readers", readers.members().get(0).id());

            // Transactions
            client.ask("00000016000a000400000001000461736b730001020470617900", 0);
            kafka.moveTransactionCoordinator("pay", 1);
            client.ask("000000220016000400000001000461736b730004706179000003e8ffffffffffffffffffff00", 9);
            var transactions = kafka.transactions();
            same("null", transactions.get("pay").startedMs());
            kafka.waitForTransaction(transactions.get("pay").id(), transactions.get("pay").state());
            kafka.hangTransaction("orders", 0);

            // Rules
            var fail = kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", clientId("nobody"));
            var failagain = kafka.arm(fail);
            kafka.arm(failagain.definition());
            kafka.removeRule(fail);
            kafka.removeRule(failagain.id());
            var delay = kafka.delay("Fetch", Duration.ofMillis(500), clientId("nobody"));
            var delayagain = kafka.arm(delay);
            kafka.arm(delayagain.definition());
            kafka.removeRule(delay);
            kafka.removeRule(delayagain.id());
            var disconnect = kafka.disconnect("Fetch", clientId("nobody"));
            var disconnectagain = kafka.arm(disconnect);
            kafka.arm(disconnectagain.definition());
            kafka.removeRule(disconnect);
            kafka.removeRule(disconnectagain.id());
            var ignore = kafka.ignore("Fetch", clientId("nobody"));
            var ignoreagain = kafka.arm(ignore);
            kafka.arm(ignoreagain.definition());
            kafka.removeRule(ignore);
            kafka.removeRule(ignoreagain.id());
            var dropanswer = kafka.dropAnswer("Fetch", clientId("nobody"));
            var dropansweragain = kafka.arm(dropanswer);
            kafka.arm(dropansweragain.definition());
            kafka.removeRule(dropanswer);
            kafka.removeRule(dropansweragain.id());
            var throttle = kafka.throttle("Fetch", Duration.ofMillis(1000), clientId("nobody"));
            var throttleagain = kafka.arm(throttle);
            kafka.arm(throttleagain.definition());
            kafka.removeRule(throttle);
            kafka.removeRule(throttleagain.id());
            var changefield = kafka.changeField("Fetch", "throttleTimeMs", 7, clientId("nobody"));
            var changefieldagain = kafka.arm(changefield);
            kafka.arm(changefieldagain.definition());
            kafka.removeRule(changefield);
            kafka.removeRule(changefieldagain.id());
            var corruptrecords = kafka.corruptRecords(clientId("nobody"));
            var corruptrecordsagain = kafka.arm(corruptrecords);
            kafka.arm(corruptrecordsagain.definition());
            kafka.removeRule(corruptrecords);
            kafka.removeRule(corruptrecordsagain.id());
            var stalemetadata = kafka.staleMetadata(clientId("nobody"));
            var stalemetadataagain = kafka.arm(stalemetadata);
            kafka.arm(stalemetadataagain.definition());
            kafka.removeRule(stalemetadata);
            kafka.removeRule(stalemetadataagain.id());
            var wrongcorrelationid = kafka.wrongCorrelationId("Fetch", clientId("nobody"));
            var wrongcorrelationidagain = kafka.arm(wrongcorrelationid);
            kafka.arm(wrongcorrelationidagain.definition());
            kafka.removeRule(wrongcorrelationid);
            kafka.removeRule(wrongcorrelationidagain.id());
            var cutframe = kafka.cutFrame("Fetch", 8, clientId("nobody"));
            var cutframeagain = kafka.arm(cutframe);
            kafka.arm(cutframeagain.definition());
            kafka.removeRule(cutframe);
            kafka.removeRule(cutframeagain.id());
            var shortframe = kafka.shortFrame("Fetch", 8, clientId("nobody"));
            var shortframeagain = kafka.arm(shortframe);
            kafka.arm(shortframeagain.definition());
            kafka.removeRule(shortframe);
            kafka.removeRule(shortframeagain.id());
            var oversizedframe = kafka.oversizedFrame("Fetch", 8, clientId("nobody"));
            var oversizedframeagain = kafka.arm(oversizedframe);
            kafka.arm(oversizedframeagain.definition());
            kafka.removeRule(oversizedframe);
            kafka.removeRule(oversizedframeagain.id());
            var slowframe = kafka.slowFrame("Fetch", 8, clientId("nobody"));
            var slowframeagain = kafka.arm(slowframe);
            kafka.arm(slowframeagain.definition());
            kafka.removeRule(slowframe);
            kafka.removeRule(slowframeagain.id());
            var refuseconnections = kafka.refuseConnections(broker(2));
            var refuseconnectionsagain = kafka.arm(refuseconnections);
            kafka.arm(refuseconnectionsagain.definition());
            kafka.removeRule(refuseconnections);
            kafka.removeRule(refuseconnectionsagain.id());
            var latency = kafka.latency(Duration.ofMillis(500), link(List.of(1, 2)));
            var latencyagain = kafka.arm(latency);
            kafka.arm(latencyagain.definition());
            kafka.removeRule(latency);
            kafka.removeRule(latencyagain.id());
            var bandwidth = kafka.bandwidth(1000, clientId("nobody"));
            var bandwidthagain = kafka.arm(bandwidth);
            kafka.arm(bandwidthagain.definition());
            kafka.removeRule(bandwidth);
            kafka.removeRule(bandwidthagain.id());
            var sliceframes = kafka.sliceFrames(8, clientId("nobody"));
            var sliceframesagain = kafka.arm(sliceframes);
            kafka.arm(sliceframesagain.definition());
            kafka.removeRule(sliceframes);
            kafka.removeRule(sliceframesagain.id());
            var resetafter = kafka.resetAfter(8, clientId("nobody"));
            var resetafteragain = kafka.arm(resetafter);
            kafka.arm(resetafteragain.definition());
            kafka.removeRule(resetafter);
            kafka.removeRule(resetafteragain.id());
            var halfopen = kafka.halfOpen(clientId("nobody"));
            var halfopenagain = kafka.arm(halfopen);
            kafka.arm(halfopenagain.definition());
            kafka.removeRule(halfopen);
            kafka.removeRule(halfopenagain.id());
            var slowclose = kafka.slowClose(Duration.ofMillis(500), clientId("nobody"));
            var slowcloseagain = kafka.arm(slowclose);
            kafka.arm(slowcloseagain.definition());
            kafka.removeRule(slowclose);
            kafka.removeRule(slowcloseagain.id());
            var diskfull = kafka.diskFull(topic("nowhere"));
            var diskfullagain = kafka.arm(diskfull);
            kafka.arm(diskfullagain.definition());
            kafka.removeRule(diskfull);
            kafka.removeRule(diskfullagain.id());
            var diskerror = kafka.diskError(topic("nowhere"));
            var diskerroragain = kafka.arm(diskerror);
            kafka.arm(diskerroragain.definition());
            kafka.removeRule(diskerror);
            kafka.removeRule(diskerroragain.id());
            var diskslow = kafka.diskSlow(Duration.ofMillis(500), topic("nowhere"));
            var diskslowagain = kafka.arm(diskslow);
            kafka.arm(diskslowagain.definition());
            kafka.removeRule(diskslow);
            kafka.removeRule(diskslowagain.id());
            var loseflushes = kafka.loseFlushes(topic("nowhere"));
            var loseflushesagain = kafka.arm(loseflushes);
            kafka.arm(loseflushesagain.definition());
            kafka.removeRule(loseflushes);
            kafka.removeRule(loseflushesagain.id());
            var failinturn = kafka.fail("Fetch", Arrays.asList("NOT_LEADER_OR_FOLLOWER", 7, null), clientId("nobody"));
            var failinturnagain = kafka.arm(failinturn);
            kafka.removeRule(failinturn);
            kafka.removeRule(failinturnagain);
            var respondinturn = kafka.respond("Fetch", List.of(new byte[] {0, 6}, Map.of("errorCode", 6), "NOT_LEADER_OR_FOLLOWER"), clientId("nobody"));
            var respondinturnagain = kafka.arm(respondinturn);
            kafka.removeRule(respondinturn);
            kafka.removeRule(respondinturnagain);
            var unmatched = kafka.unusedRules();
            kafka.arm(unmatched.get(0));
            var rules = kafka.rules();
            kafka.removeRule(rules.get(1));
            kafka.clearRules();

            // Snapshots
            var taken = kafka.snapshot();
            kafka.snapshot(name("mine"));
            var kept = kafka.snapshots();
            same("3", kept.get("mine").topics());
            kafka.deleteTopic("copy");
            kafka.restore(taken);
            kafka.restore(kept.get("mine"));
            kafka.dropSnapshot(kept.get("mine").name());
            var restored = kafka.topics();
            same("copy", restored.get("copy").name());
        }
    }
}
