// Prepares, checks and submits a call. All requests go to the API of the service that served this page.
"use strict";

const form = document.getElementById("submission");
const at = (id) => document.getElementById(id);
const MOST_BYTES = Number(form.dataset.mostBytes), MOST_FILE_BYTES = Number(form.dataset.mostFileBytes);
const TRIES = 5, SHOWN_FILES = 8;
const call = { chosen: [], mended: new Map(), stored: new Map(), begun: null, request: null, stopped: false };
const figure = new Intl.NumberFormat("en");
const twoDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const counted = (number, one, many = `${one}s`) => `${figure.format(number)} ${number === 1 ? one : many}`;
const money = (usd) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `The service answered ${status}.`);
    this.status = status;
    this.rows = problem.rows;
  }
}
class Stopped extends Error {}

function choose(files) {
  const known = new Set(call.chosen.map((file) => file.path));
  call.chosen.push(...files.filter((file) => !known.has(file.path)));
  changed();
}

/** Highlights the button to press next: "check", or "send" once there is an estimate. */
function highlight(next) {
  for (const id of ["check", "send"]) at(id).classList.toggle("first", id === next);
}

function changed() {
  call.begun = null;
  highlight("check");
  at("outcome").replaceChildren();
  if (!at("chosen")) return;
  const bytes = call.chosen.reduce((sum, file) => sum + file.size, 0);
  const names = call.chosen.slice(0, SHOWN_FILES).map((file) => element("li", { dir: "auto" }, file.path));
  if (call.chosen.length > SHOWN_FILES) names.push(element("li", {}, `and ${figure.format(call.chosen.length - SHOWN_FILES)} more`));
  const clear = element("button", { type: "button", onclick: () => { call.chosen = []; changed(); } }, "Clear selection");
  at("chosen").replaceChildren(...(call.chosen.length
    ? [element("p", {}, `${counted(call.chosen.length, "file")}, ${(bytes / 1e6).toFixed(1)} MB `, clear), element("ul", {}, ...names)] : []));
}

function filesToSend() {
  // Once sending has begun, the files must not change, because their parts are numbered.
  if (!call.begun) {
    for (const [source, file] of mendedRows(at("refused"))) call.mended.set(source, file);
    for (const { dataset: { source, row } } of at("refused").querySelectorAll("li[data-row]")) call.stored.set(source, row);
  }
  const instead = [...call.mended].filter(([source, file]) => source === file.name || !call.mended.has(file.name));
  const typed = at("typed")?.value.trim();
  return [
    ...namedApart(call.chosen).filter((file) => !call.mended.has(file.name)),
    ...instead.map(([, file]) => file),
    ...(typed ? [textFile("typed", typed)] : []),
  ];
}
/** Returns the numbers of the call's refused rows that these files replace. A replacement may itself have been replaced. */
function replacedRows(files) {
  const last = (source, file = call.mended.get(source)) =>
    file && file.name !== source && call.mended.has(file.name) ? last(file.name) : file;
  return [...call.stored].filter(([source]) => files.includes(last(source))).map(([, row]) => row);
}
/** Omits rows of a table that have a replacement: the table is sent unchanged, so they are refused again. */
const stillRefused = (rows) => rows.filter(({ source }) => (call.mended.get(source)?.name ?? source) === source);
const hasBoard = () => at("board") && at("method").value === "innoeval";
function options() {
  const query = new URLSearchParams({ method: at("method").value, blind: at("blind").checked });
  if (at("cutoff").value) query.set("cutoff", at("cutoff").value);
  if (at("max-usd").value) query.set("max_usd", at("max-usd").value);
  if (hasBoard() && at("board").value) query.set("board", at("board").value);
  const models = [...form.querySelectorAll('[name="board_model"]:checked')].map((box) => box.value);
  if (hasBoard() && models.length) query.set("board_models", models.join(","));
  if (at("criteria").value.trim()) query.set("criteria", at("criteria").value);
  if (at("overnight")?.checked) query.set("priority", "overnight");
  return query;
}

/** Sends one request with files. Uses XMLHttpRequest, because `fetch` does not report the progress of uploads. */
function upload(path, files, key, told) {
  if (call.stopped) throw new Stopped();
  const body = new FormData();
  for (const file of files) body.append("file", file, file.name);
  return new Promise((done, failed) => {
    const request = call.request = new XMLHttpRequest();
    request.open("POST", path);
    request.responseType = "json";
    for (const [name, value] of [["Accept", "application/json"], ["X-CSRF-Token", form.dataset.csrf], ["Idempotency-Key", key]])
      request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => told(event.loaded / event.total);
    request.upload.onload = () => told(1, true);
    request.onload = () => request.status < 300 ? done(request.response)
      : failed(Object.assign(new Refusal(request.status, request.response || {}), { wait: Number(request.getResponseHeader("Retry-After")) }));
    request.onerror = () => failed(new Error("The service cannot be reached. Check your connection and try again."));
    request.onabort = () => failed(new Stopped());
    request.send(body);
  });
}
// All attempts of a request have the same key, so that a request whose response was lost is not executed twice.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
/** Returns whether the same person has signed in again in another tab, and takes over the new session's token. */
async function signedInAnew() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" }, redirect: "manual" });
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page.getElementById("submission")?.dataset.csrf, before = form.dataset.csrf;
  if (!token || page.body.dataset.who !== document.body.dataset.who) return false;
  form.dataset.csrf = token;
  return token !== before;
}
async function patiently(path, files, told, key = newKey()) {
  for (let tried = 1; ; tried++) {
    try {
      return await upload(path, files, key, told);
    } catch (error) {
      if ([401, 403].includes(error.status) && await signedInAnew()) continue;
      const passing = !(error instanceof Refusal || error instanceof Stopped) || [429, 503].includes(error.status);
      if (!passing || tried === TRIES) throw error;
      await new Promise((done) => setTimeout(done, 1000 * (error.wait || tried)));
    }
  }
}

const TOO_MUCH = 413;
/** Numbers of the parts that have arrived, and of those that were too large and were split: part `3` into `3.1`, `3.2`. */
const noParts = () => ({ arrived: new Set(), cut: new Set() });
/** Sends all parts with `sendPart(files, isLast, told)`. Parts that arrived earlier are left out, and parts that the
 * service finds too large are split. */
async function eachPart(files, { arrived, cut }, sendPart) {
  const all = files.reduce((sum, file) => sum + file.size, 0);
  let sent = 0, number = 0, waiting = null;
  const one = async (part, isLast, name = `${++number}`) => {
    const size = part.reduce((sum, file) => sum + file.size, 0);
    const told = (share, isReading = false) => {
      const whole = all ? Math.min(1, (sent + share * size) / all) : 1;
      at("sent").value = whole;
      at("sent-words").textContent = `${Math.round(100 * whole)} % of ${(all / 1e6).toFixed(1)} MB${isReading ? ": the service is reading them …" : ""}`;
    };
    told(0);
    if (!arrived.has(name) && !cut.has(name))
      try {
        await sendPart(part, isLast, told);
        arrived.add(name);
      } catch (error) {
        if (error.status !== TOO_MUCH || !await smallerParts(part)) throw error;
        cut.add(name);
      }
    if (arrived.has(name)) sent += size;
    else {
      const smaller = await smallerParts(part);
      for (const [place, some] of smaller.entries()) await one(some, isLast && place === smaller.length - 1, `${name}.${place + 1}`);
    }
  };
  for await (const part of uploadParts(files, MOST_BYTES, MOST_FILE_BYTES)) {
    if (waiting) await one(waiting, false);
    waiting = part;
  }
  if (waiting) await one(waiting, true);
}

/** Converts the problem for a part without any usable row to a result, so that the other parts are still checked. */
async function withoutUsable(asked) {
  try {
    return await asked;
  } catch (error) {
    if (!error.rows) throw error;
    return { accepted: 0, ideas: 0, rejected: error.rows, notices: [], duplicates: [] };
  }
}

async function check(files) {
  const parts = [];
  await eachPart(files, noParts(), async (part, _, told) =>
    parts.push(await withoutUsable(patiently(`/v1/batches/estimate?${options()}`, part, told))));
  const sum = (name) => parts.reduce((total, part) => total + (part[name] ?? 0), 0);
  const known = parts.filter((part) => part.ideas);
  const same = parts.flatMap((part) => part.duplicates);
  const lines = [`${counted(sum("accepted"), "proposal")} can be evaluated${same.length ? `; ${counted(same.length, "has", "have")} the same text as another and ${same.length === 1 ? "is" : "are"} paid for only once` : ""}`];
  lines.push(...same.slice(0, SHOWN_FILES).map((file) => `${file.source} has the same text as ${file.duplicate_of_source}`));
  const unopened = parts.reduce((total, part) => total + (part.unparsed_documents ?? 0), 0);
  if (unopened) lines.push(`${counted(unopened, "document is", "documents are")} opened only when the evaluation starts. Unreadable ones fail then, and are listed with the reason.`);
  for (const absent of new Set(known.map((part) => part.cost_absent).filter(Boolean))) lines.push(`Cost unknown: ${absent}`);
  if (known.length && known.every((part) => part.cost_usd !== null)) {
    const high = known.every((part) => part.high_cost_usd !== null) ? `, at most about ${money(sum("high_cost_usd"))}` : "";
    const basis = known[0].basis === "own" ? `${counted(known[0].evaluations, "evaluation")} of yours` : "typical figures";
    lines.push(`About ${money(sum("cost_usd"))}${high}, based on ${basis}`);
  }
  if (known.length && known.every((part) => part.gpu_hours !== null)) lines.push(`About ${twoDigits.format(sum("gpu_hours"))} GPU-hours; ${twoDigits.format(sum("high_gpu_hours"))} if every idea takes as long as the slowest tenth`);
  const left = known[0]?.remaining_this_month_usd;
  if (typeof left === "number") lines.push(`${money(left)} left this month${sum("high_cost_usd") > left ? "; the call may cost more" : ""}`);
  if (known.length) lines.push(finish(known));
  const fits = known.map((part) => part.corpus_fit).filter(Boolean);
  if (fits.length) lines.push(coverage(fits));
  for (const why of new Set(known.map((part) => part.corpus_fit_absent).filter(Boolean))) lines.push(`${fits.length ? "For others, it" : "It"} is not known whether the corpus covers their fields: ${why}`);
  lines.push(...parts.flatMap((part) => part.notices));
  at("outcome").replaceChildren(element("h2", {}, "If you submit this call"), element("ul", {}, ...lines.map((line) => element("li", { dir: "auto" }, line))));
  showRefused(at("refused"), stillRefused(parts.flatMap((part) => part.rejected)));
  highlight("send");
}
/** Describes how well the corpus covers the fields of the proposals that were checked. */
function coverage(fits) {
  const of = (level) => fits.reduce((total, fit) => total + fit[level], 0);
  const poor = of("poorly_covered") ? `, and of ${figure.format(of("poorly_covered"))} poorly: expect no score or only a partial one for these` : "";
  return `Of ${counted(of("checked_proposals"), "proposal")} checked, the corpus covers the field of ${figure.format(of("well_covered"))} well, of ${figure.format(of("partly_covered"))} in part${poor}`;
}
/** Describes when the call will finish. Each part's estimate includes the evaluations already waiting, which are counted only once. */
function finish(parts) {
  if (parts.some((part) => part.hours_to_finish === null)) return `The end time is unknown. ${parts.find((part) => part.hours_to_finish === null).hours_absent}`;
  const [{ evaluations_ahead: waiting, hours_to_finish: hours, ideas }] = parts;
  const perIdea = waiting + ideas ? hours / (waiting + ideas) : 0;
  const whole = perIdea * (waiting + parts.reduce((sum, part) => sum + part.ideas, 0));
  return `It ends in about ${whole < 1 ? counted(Math.max(1, Math.round(60 * whole)), "minute") : counted(Math.round(whole), "hour")}${waiting ? `, after ${counted(waiting, "evaluation")} already waiting` : ""}`;
}

async function send(files) {
  const { into, next } = form.dataset;
  const begun = call.begun ??= { parts: noParts(), id: into ?? null, key: null, next: Number(next ?? 1), accepted: 0, rejected: [] };
  await eachPart(files, begun.parts, async (part, isLast, told) => {
    const query = options();
    query.set("open", !isLast);
    if (begun.id === null) {
      query.set("name", at("name").value);
      if (at("tags").value) query.set("tags", at("tags").value);
      if (at("opinions-due").value) query.set("opinions_due", at("opinions-due").value);
    }
    else {
      query.set("first_row", begun.next);
      if (into) query.set("reopen", true);
      const replaced = into ? replacedRows(part) : [];
      if (replaced.length) query.set("replaced_rows", replaced.join(","));
    }
    const path = begun.id === null ? "/v1/batches" : `/v1/batches/${begun.id}/rows`;
    begun.key ??= newKey();
    const answer = await patiently(`${path}?${query}`, part, told, begun.key).catch((error) => {
      if (error.status === TOO_MUCH) begun.key = null; // nothing was accepted, so the next request gets a new key
      throw error;
    });
    Object.assign(begun, { key: null, id: answer.id, next: answer.next_row, accepted: begun.accepted + answer.accepted });
    begun.rejected.push(...answer.rejected);
  });
  const refused = stillRefused(begun.rejected);
  call.chosen = [];
  call.mended.clear();
  call.stored.clear();
  if (at("typed")) at("typed").value = "";
  changed();
  const link = element("a", { href: `/console/calls/${begun.id}` }, "Follow the call");
  at("outcome").replaceChildren(element("h2", {}, `${counted(begun.accepted, "proposal")} submitted`), element("p", {}, link));
  form.dataset.into = begun.id; // refused rows are added to this call once they are fixed
  form.dataset.next = begun.next;
  showRefused(at("refused"), refused, true);
  link.focus();
}

async function attempt(work) {
  const files = filesToSend();
  const large = files.map((file) => [file, tooLarge(file, MOST_FILE_BYTES)]).filter(([, why]) => why);
  at("alarm").hidden = true;
  if (!files.length || large.length) {
    alarm(large.length ? large.map(([file, why]) => `${file.name}: ${why}`).join(" ") : "Choose files first, or type a proposal.");
    return;
  }
  busy(true);
  try {
    await work(files);
  } catch (error) {
    if (error.rows) showRefused(at("refused"), stillRefused(error.rows));
    const rest = call.begun?.id ? ` ${counted(call.begun.accepted, "proposal")} arrived so far. Press “Submit” to send the rest.` : "";
    if (error.status === 401) alarm("You are signed out: ", signInLink(), `, then press “${at(work === send ? "send" : "check").textContent}” again. Your selection is kept here.${rest}`);
    else alarm(`${error instanceof Stopped ? "Stopped." : error.message}${rest}`);
  } finally {
    busy(false);
  }
}
const signInLink = () => element("a", { href: "/console/sign-in?next=/console/calls/new", target: "_blank" }, "sign in in another tab");
function alarm(...words) {
  at("alarm").replaceChildren(...words);
  at("alarm").hidden = false;
}
function busy(is) {
  at("sending").hidden = at("stop").hidden = !is;
  at("check").disabled = at("send").disabled = is;
  if (is) call.stopped = false;
  else call.request = null;
}

at("check").disabled = at("send").disabled = false; // the page disables them in case no script runs
at("no-script").remove();
form.addEventListener("submit", (event) => { event.preventDefault(); attempt(check); });
at("send").addEventListener("click", () => form.reportValidity() && attempt(send));
at("method").addEventListener("change", () => {
  if (!at("board")) return;
  at("of-board").hidden = !hasBoard();
  at("board").disabled = !hasBoard(); // a hidden field must not block submission
  if (at("of-board-models")) at("of-board-models").hidden = !hasBoard();
});
at("stop").addEventListener("click", () => { call.stopped = true; call.request?.abort(); });
for (const id of ["files", "folder"])
  at(id)?.addEventListener("change", (event) => { choose(chosenFiles(event.target.files)); event.target.value = ""; });
for (const kind of ["dragover", "dragleave", "drop"])
  at("drop-area")?.addEventListener(kind, async (event) => {
    event.preventDefault();
    at("drop-area").classList.toggle("over", kind === "dragover");
    if (kind === "drop") choose(await droppedFiles(event.dataTransfer));
  });
// The browser asks for confirmation before unsent files or a typed proposal are lost.
addEventListener("beforeunload", (event) => {
  if (call.request || call.chosen.length || call.mended.size || at("typed")?.value.trim()) event.preventDefault();
});
if (form.dataset.mend)
  fetch(`/v1/batches/${form.dataset.mend}`, { headers: { Accept: "application/json" } })
    .then((answer) => answer.json()).then((batch) => showRefused(at("refused"), batch.rejected_rows, true));
