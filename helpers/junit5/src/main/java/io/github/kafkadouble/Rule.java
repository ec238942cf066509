package io.github.kafkadouble;

import com.google.gson.JsonElement;

/** A fault rule. Hits and spent are those of the moment when the verb returned. */
public final class Rule {
    private long id;
    private JsonElement rule;
    private long hits;
    private boolean spent;
    private transient Verbs verbs;

    Rule bound(Verbs to) {
        verbs = to;
        return this;
    }

    public long id() {
        return id;
    }

    /** The rule in the JSON form of a rule. */
    public JsonElement definition() {
        return rule;
    }

    public long hits() {
        return hits;
    }

    public boolean spent() {
        return spent;
    }

    /** Disarms the rule, and releases everything that it holds. It may be called again. */
    public void remove() {
        verbs.removeRule(id);
    }

    /** Returns once the rule was applied, as often as {@link Params#hits} says if it is given. */
    public void await(Param... params) {
        verbs.waitForRule(id, params);
    }
}
