package io.github.kafkadouble;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.reflect.TypeToken;
import io.github.kafkadouble.Types.Request;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;

/** Calls the verbs of a running double, whoever started it. */
public class ControlClient extends Verbs {
    private final URI url;
    private final String token;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** The control plane at this URL. The token is null where none is needed. */
    public ControlClient(String url, String token) {
        this.url = URI.create(url);
        this.token = token;
    }

    /** Calls any verb. Returns its result; parameters are values of JSON. */
    public JsonElement call(String verb, Map<String, ?> parameters) {
        Param[] params = parameters.entrySet().stream()
                .map(each -> new Param(each.getKey(), each.getValue()))
                .toArray(Param[]::new);
        return call(verb, new TypeToken<JsonElement>() {}, params);
    }

    @Override
    <T> T call(String verb, TypeToken<T> result, Param[] params, Param... required) {
        JsonObject answer = send("POST", "/verbs/" + verb, Json.object(params, required));
        return bound(Json.GSON.fromJson(answer.get("result"), result));
    }

    private <T> T bound(T result) {
        if (result instanceof Rule rule) {
            rule.bound(this);
        } else if (result instanceof List<?> list) {
            list.forEach(this::bound);
        }
        return result;
    }

    /** The last requests of clients, up to 1000, oldest first, without their contents. */
    public List<Request> lastRequests(int count) {
        JsonObject answer = send("GET", "/requests?limit=" + count, null);
        return Json.GSON.fromJson(answer.get("requests"), new TypeToken<List<Request>>() {}.getType());
    }

    JsonObject send(String method, String path, JsonObject body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(path));
        request.header("User-Agent", "kafkadouble-junit5"); // errors are in the words of Java
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        if (body == null) {
            request.method(method, BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json");
            request.method(method, BodyPublishers.ofString(Json.GSON.toJson(body)));
        }
        return checked(answered(request.build()));
    }

    private HttpResponse<String> answered(HttpRequest request) {
        try {
            return http.send(request, BodyHandlers.ofString());
        } catch (IOException problem) {
            throw new KafkaDoubleException("the control plane at " + url + " does not answer: " + problem, problem);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new KafkaDoubleException("the call was interrupted", interrupted);
        }
    }

    private JsonObject checked(HttpResponse<String> response) {
        JsonObject answer;
        try {
            answer = JsonParser.parseString(response.body()).getAsJsonObject();
        } catch (JsonParseException | IllegalStateException problem) {
            throw new KafkaDoubleException("what answers at " + url + " is no control plane", problem);
        }
        if (response.statusCode() == 200) {
            return answer;
        }
        JsonObject error = answer.getAsJsonObject("error");
        String message = error.get("message").getAsString();
        switch (error.get("kind").getAsString()) {
            case "kafka":
                throw new KafkaErrorException(
                        error.get("code").getAsInt(), error.get("name").getAsString(), message);
            case "usage":
                throw new UsageException(message);
            case "timeout":
                throw new WaitTimeoutException(message);
            case "assertion":
                throw new RequestAssertionError(message);
            default:
                throw new KafkaDoubleException(message);
        }
    }
}
