// Calls of the control plane: verbs, views and streams. A token, if one is needed, is asked for once
// and kept for this tab.

const TOKEN = "kafkadouble-token";

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

async function checked(response) {
  if (response.ok) return response;
  const text = await response.text();
  let error = { kind: "internal", message: text };
  try { error = JSON.parse(text).error; } catch { /* the text is all there is */ }
  throw Object.assign(new Error(error.message), { kind: error.kind, status: response.status });
}

async function asked(make) {
  let response = await make();
  if (response.status === 401) {
    const token = prompt("The token of the control plane");
    if (token) {
      sessionStorage.setItem(TOKEN, token);
      response = await make();
    }
  }
  return checked(response);
}

export async function get(path) {
  return (await asked(() => fetch(path, { headers: headers() }))).json();
}

// The result of a verb.
export async function call(verb, parameters = {}) {
  const body = JSON.stringify(parameters);
  const make = () => fetch(`verbs/${verb}`, { method: "POST", body, headers: headers({ "Content-Type": "application/json" }) });
  return (await (await asked(make)).json()).result;
}

// Follows a stream of server-sent events until the page is closed, and connects again when it ends.
// `path` is a function, because a stream continues after the last event. EventSource cannot send a
// token, so the stream is read here.
export async function follow(path, onEvent, onState) {
  for (;;) {
    try {
      const response = await asked(() => fetch(path(), { headers: headers() }));
      onState("live");
      await read(response.body.pipeThrough(new TextDecoderStream()).getReader(), onEvent);
      onState("lost", "the stream has ended");
    } catch (error) {
      onState("lost", error.message);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function read(reader, onEvent) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    const events = blocks.map(parsed).filter((each) => each !== null);
    if (events.length) onEvent(events);
  }
}

function parsed(block) {
  const fields = Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  return "data" in fields ? { name: fields.event, data: JSON.parse(fields.data) } : null;
}
