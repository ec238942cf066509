package interop;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;

/** Gives the client a token as it is; the one of the library makes tokens by itself, and needs Jackson. */
public final class TokenLogin implements AuthenticateCallbackHandler {
    private static final long HOUR_MS = 3_600_000;

    private static volatile OAuthBearerToken token;

    static void setToken(String user, String value) {
        long now = System.currentTimeMillis();
        token = new OAuthBearerToken() {
            @Override
            public String value() {
                return value;
            }

            @Override
            public Set<String> scope() {
                return Collections.emptySet();
            }

            @Override
            public long lifetimeMs() {
                return now + HOUR_MS;
            }

            @Override
            public String principalName() {
                return user;
            }

            @Override
            public Long startTimeMs() {
                return now;
            }
        };
    }

    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) { }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerTokenCallback) {
                ((OAuthBearerTokenCallback) callback).token(token);
            }
        }
    }

    @Override
    public void close() { }
}
