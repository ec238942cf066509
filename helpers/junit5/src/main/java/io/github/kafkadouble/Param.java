package io.github.kafkadouble;

/**
 * An optional parameter of a verb, made by {@link Params}. A parameter that the verb does not have is
 * a {@link UsageException}, which lists those that it has.
 */
public record Param(String name, Object value) {}
