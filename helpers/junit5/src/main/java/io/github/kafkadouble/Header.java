package io.github.kafkadouble;

/** A header of a record. */
public record Header(String key, byte[] value) {}
