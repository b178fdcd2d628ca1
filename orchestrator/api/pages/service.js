// Requests to the service, with the API key kept in this tab; it is sent only to the server this page came from.
const KEY_ITEM = "assayer-key";
const TERMINAL = new Set(["done", "failed", "dead", "cancelled"]);

class Problem extends Error {
  constructor(status, document) {
    super(document.detail || document.title || `The server answered ${status}.`);
    this.status = status;
    this.retryAfter = document.retry_after;
  }
}
const key = () => sessionStorage.getItem(KEY_ITEM);
const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function request(path, { accept = "application/json", headers = {}, ...options } = {}) {
  const answer = await fetch(path, {
    ...options,
    headers: { Authorization: `Bearer ${key()}`, Accept: accept, ...headers },
    redirect: "error",
    credentials: "omit",
    cache: "no-store",
  });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  return answer;
}
const read = async (path) => (await request(path)).json();
const cancelled = async (path) => (await request(path, { method: "DELETE" })).json();

// Retries use the same Idempotency-Key, so a submission whose response was lost is not made twice.
async function post(path, options) {
  const headers = { ...options.headers, "Idempotency-Key": crypto.randomUUID ? crypto.randomUUID() : randomId() };
  for (let attempt = 1; ; attempt++) {
    try {
      return await (await request(path, { ...options, method: "POST", headers })).json();
    } catch (error) {
      const transient = !(error instanceof Problem) || error.status === 429 || error.status === 503;
      if (!transient || attempt === 4) throw error;
      await sleep(error.retryAfter || attempt);
    }
  }
}
// crypto.randomUUID is missing on plain http.
function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Server-sent events by fetch, as EventSource cannot send headers; resumes after the last event when the connection breaks.
async function* events(path, signal) {
  let last = 0;
  for (let failures = 0; failures < 6 && !signal.aborted; failures++) {
    try {
      const headers = last ? { "Last-Event-ID": String(last) } : {};
      const answer = await request(path, { accept: "text/event-stream", headers, signal });
      if (answer.status === 204) return;
      for await (const event of parseEvents(answer.body.pipeThrough(new TextDecoderStream()).getReader())) {
        if (event.id) last = event.id;
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status < 500 && error.status !== 429) throw error;
    }
    await sleep(Math.min(2 ** failures, 15));
  }
}
async function* parseEvents(reader) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replace(/\r\n?/g, "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: "", event: "message", data: "" };
      for (const line of block.split("\n")) {
        const [, name, text] = line.match(/^(id|event|data): ?(.*)$/) || [];
        if (name) event[name] = name === "data" && event.data ? `${event.data}\n${text}` : text;
      }
      if (event.data) yield { ...event, data: JSON.parse(event.data) };
    }
  }
}
