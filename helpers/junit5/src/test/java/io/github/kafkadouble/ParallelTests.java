package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Tests that share a double run one after another, also where tests run in parallel. */
class ParallelTests {
    private static final AtomicReference<CountDownLatch> WAITS = new AtomicReference<>();

    /** True if another test begins while this one runs, for which it waits. */
    private static boolean anotherBegins() throws InterruptedException {
        CountDownLatch own = new CountDownLatch(1);
        CountDownLatch before = WAITS.getAndSet(own);
        if (before != null) {
            before.countDown();
        }
        boolean began = own.await(300, TimeUnit.MILLISECONDS);
        WAITS.compareAndSet(own, null);
        return began;
    }

    @KafkaDoubleTest(topics = "parallel")
    @Tag("inner")
    @EnabledIfSystemProperty(named = "kafkadouble.inner", matches = "true")
    static class First {
        @Test
        void one(KafkaDouble kafka) throws InterruptedException {
            assertFalse(anotherBegins());
        }

        @Test
        void two(KafkaDouble kafka) throws InterruptedException {
            assertFalse(anotherBegins());
        }
    }

    @KafkaDoubleTest(topics = "parallel")
    @Tag("inner")
    @EnabledIfSystemProperty(named = "kafkadouble.inner", matches = "true")
    static class Second {
        @Test
        void three(KafkaDouble kafka) throws InterruptedException {
            assertFalse(anotherBegins());
        }
    }

    @Test
    void testsThatShareADoubleRunOneAfterAnother() {
        System.setProperty("kafkadouble.inner", "true");
        try {
            EngineTestKit.engine("junit-jupiter")
                    .selectors(selectClass(First.class), selectClass(Second.class))
                    .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                    .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
                    .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                    .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "3")
                    .execute()
                    .testEvents()
                    .assertStatistics(stats -> stats.succeeded(3).failed(0));
        } finally {
            System.clearProperty("kafkadouble.inner");
        }
    }
}
