package io.github.kafkadouble;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Gives the tests of a class a {@link KafkaDouble} as a parameter. It is empty before each test, except
 * for its topics. Classes with the same settings share a process, which ends after the JVM, so that an
 * application can still close its clients in a shutdown hook. When a test fails, the last requests are
 * shown with its exception.
 *
 * <p>Where tests run in parallel, classes with this annotation run one after another, and so do their
 * tests. A class whose tests are to run beside others starts a double of its own, by {@link
 * KafkaDouble#builder()}.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(KafkaDoubleExtension.class)
@ResourceLock("io.github.kafkadouble")
public @interface KafkaDoubleTest {
    /** The number of brokers. */
    int brokers() default 1;

    /** Topics at the start, as "orders", "orders:2" with the number of partitions, or "orders:2:3" with replicas. */
    String[] topics() default {};

    /** Settings of Kafka's broker, as "name=value". */
    String[] settings() default {};

    /** The protocol of the brokers: "SSL", "SASL_PLAINTEXT" or "SASL_SSL"; empty for PLAINTEXT. */
    String security() default "";

    /** The users that can log in by SASL, as "name:password". */
    String[] users() default {};

    /**
     * The user as which the application under test logs in, whose settings Spring gets; empty for the
     * first of {@link #users}.
     */
    String user() default "";

    /** The tokens with which clients log in by OAUTHBEARER: "unsecured", "signed" or "any"; empty for none. */
    String oauthbearer() default "";

    /** ACLs, as "User:alice allow READ topic:orders*"; clients may then do only what one allows. */
    String[] acls() default {};

    /** Principals that may do everything, such as "User:admin". */
    String[] superUsers() default {};

    /** What the brokers show with TLS: "valid", "expired", "self-signed" or "wrong-host"; empty for a valid one. */
    String certificate() default "";

    /**
     * The file of a scenario, *.yaml or *.toml, with which each test begins: a path, or
     * "classpath:orders.yaml" for a resource beside the tests.
     */
    String scenario() default "";

    /** Whether time stands still until a test calls {@link KafkaDouble#advance}. */
    boolean stepped() default false;

    /** More arguments of `kafkadouble serve`. */
    String[] arguments() default {};

    /** How many requests the report of a failed test has. */
    int lastRequests() default 20;
}
