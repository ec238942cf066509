package interop;

import java.util.function.BooleanSupplier;

/** How long a program waits for something that must come true. */
final class Patience {
    private static final long SECONDS = 20;

    private Patience() {}

    /** Does `work`, over and over, until it is so; work that waits for the broker itself needs no pause in between. */
    static void until(String what, BooleanSupplier isSo, Runnable work) {
        long end = System.nanoTime() + SECONDS * 1_000_000_000L;
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError(what + ": not within " + SECONDS + " s");
            }
            work.run();
        }
    }
}
