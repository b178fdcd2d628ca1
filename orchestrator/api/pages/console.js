// The page itself: signing in, submitting ideas, and keeping the lists up to date.
const PAGE_SIZE = 25, MAX_SHOWN = 500;
const view = { batch: null, shown: PAGE_SIZE, chosen: [], usageUntil: 0 };
const REFRESH_SECONDS = 3;
const USAGE_SECONDS = 30; // The month's calls are added up for it.

const announce = (text) => { at("announcement").textContent = text; };
function showError(error) {
  at("alarm").textContent = error instanceof Problem ? error.message : `The service cannot be reached (${error.message}).`;
  at("alarm").hidden = false;
}
async function attempt(work) {
  try {
    const result = await work();
    at("alarm").hidden = true;
    return result;
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (error.status === 401) signOut();
    showError(error);
    return undefined;
  }
}

function signOut() {
  sessionStorage.removeItem(KEY_ITEM);
  at("signed-in").hidden = at("session").hidden = true;
  at("sign-in").hidden = false;
  at("key").value = "";
  at("key").focus();
}

async function signIn() {
  const account = await attempt(async () => {
    const [usage, methods] = await Promise.all([read("/v1/usage"), read("/v1/methods")]);
    return { usage, methods: methods.items || methods };
  });
  if (!account) {
    at("sign-in").hidden = false;
    return;
  }
  at("sign-in").hidden = true;
  at("signed-in").hidden = at("session").hidden = false;
  at("who").textContent = `Signed in as ${account.usage.tenant}.`;
  showUsage(account.usage);
  at("method").replaceChildren(...account.methods.map((one) => h("option", { value: one.name, title: one.summary, selected: one.name === "scholareval" }, one.name)));
  await refresh();
}

function figure(big, what, ...more) {
  return h("div", {}, h("span", { class: "big" }, big), h("span", { class: "what" }, what), ...more);
}
function showUsage(usage) {
  view.usageUntil = performance.now() + USAGE_SECONDS * 1000;
  const countOf = (state) => usage.jobs.filter((one) => one.state === state).reduce((sum, one) => sum + one.jobs, 0);
  const budget = usage.monthly_usd && h("span", { class: "budget" }, stacked(
    [["spent", usage.spent_this_month_usd], ["reserved", usage.reserved_usd], ["", Math.max(0, usage.monthly_usd - usage.spent_this_month_usd - usage.reserved_usd)]],
    `${money(usage.spent_this_month_usd)} of ${money(usage.monthly_usd)} spent`));
  at("figures").replaceChildren(
    figure(number.format(countOf("queued")), "queued"),
    figure(number.format(countOf("running")), "running"),
    figure(number.format(countOf("done")), "done this month"),
    figure(number.format(countOf("failed") + countOf("dead")), "failed this month"),
    figure(usage.calls ? `${Math.round((100 * usage.cached) / usage.calls)} %` : "–", "of model answers from cache"),
    figure(money(usage.spent_this_month_usd), usage.monthly_usd ? `of ${money(usage.monthly_usd)} this month` : "this month", budget));
}

async function refreshUsage() {
  if (performance.now() >= view.usageUntil) showUsage(await read("/v1/usage"));
}

const jobsPath = () => {
  const query = new URLSearchParams({ limit: String(view.shown) });
  if (at("state").value) query.set("state", at("state").value);
  if (view.batch) query.set("batch", view.batch.id);
  return `/v1/evaluations?${query}`;
};

async function refresh() {
  await attempt(async () => {
    const [batches, page] = await Promise.all([read("/v1/batches?limit=20"), read(jobsPath()), refreshUsage()]);
    reconcile(at("batches"), batches.items, (batch) => batch.id, batchRow, redrawBatch);
    at("batches-section").hidden = !batches.items.length;
    reconcile(at("jobs"), page.items, (job) => job.id, jobRow, redrawJob);
    at("no-jobs").hidden = page.items.length > 0;
    at("more").hidden = !page.next || view.shown >= MAX_SHOWN;
  });
}
function refreshAll() {
  view.usageUntil = 0;
  return refresh();
}
function showBatch(batch) {
  view.batch = batch;
  view.shown = PAGE_SIZE;
  at("of-batch").hidden = !batch;
  at("of-batch-name").textContent = batch ? `in ${batch.name || batch.id}` : "";
  refresh();
  if (batch) at("evaluations").scrollIntoView();
}

async function readReport(job) {
  await attempt(async () => {
    const html = await (await request(job.links.report, { accept: "text/html" })).text();
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const link of page.querySelectorAll("a[href^=http]")) {
      link.target = "_blank";
      link.rel = "noopener noreferrer";
    }
    // In a srcdoc frame, links within the page need the frame's own address.
    for (const link of page.querySelectorAll('a[href^="#"]')) link.setAttribute("href", `about:srcdoc${link.getAttribute("href")}`);
    at("reader-title").textContent = job.title;
    at("reader-page").srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
    at("reader-save").onclick = () => save(new Blob([html], { type: "text/html" }), `${job.id}.html`);
    at("reader").showModal();
  });
}
async function download(batch, format) {
  const answer = await request(`${batch.links.results}?format=${format}`, { accept: "*/*" });
  save(await answer.blob(), `${batch.name || batch.id}.${format}`);
}
function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name.replace(/[^\w.-]+/g, "_") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function choose(files) {
  view.chosen = [...files];
  const shown = view.chosen.slice(0, 12).map((file) => h("li", {}, file.name));
  if (view.chosen.length > 12) shown.push(h("li", {}, `and ${view.chosen.length - 12} more`));
  at("chosen").replaceChildren(...shown);
}
async function submit() {
  const options = { method: at("method").value, ...(at("cutoff").value && { cutoff: at("cutoff").value }) };
  if (view.chosen.length) {
    const form = new FormData();
    view.chosen.forEach((file) => form.append("file", file));
    const query = new URLSearchParams({ ...options, ...(at("name").value && { name: at("name").value }) });
    const batch = await post(`/v1/batches?${query}`, { body: form });
    const rejected = batch.rejected.map((row) => h("li", { dir: "auto" }, `${row.source}: ${row.detail}`));
    at("submission-result").replaceChildren(h("p", {}, `${count(batch.accepted, "idea")} accepted, ${count(rejected.length, "row")} rejected.`), h("ul", {}, rejected));
  } else if (at("text").value.trim()) {
    const body = JSON.stringify({ idea: { text: at("text").value }, ...options });
    await post("/v1/evaluations", { body, headers: { "Content-Type": "application/json" } });
    at("submission-result").replaceChildren(h("p", {}, "1 idea accepted."));
  } else {
    at("submission-result").replaceChildren(h("p", {}, "Choose files or type in an idea first."));
    return;
  }
  choose([]);
  at("files").value = at("text").value = at("name").value = "";
  await refreshAll();
}

at("sign-in-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY_ITEM, at("key").value.trim());
  signIn();
});
at("sign-out").addEventListener("click", signOut);
at("submit-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("send").disabled = true;
  await attempt(submit);
  at("send").disabled = false;
});
at("files").addEventListener("change", () => choose(at("files").files));
for (const kind of ["dragover", "dragleave", "drop"])
  at("drop-area").addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop-area").classList.toggle("over", kind === "dragover");
    if (kind === "drop") choose(event.dataTransfer.files);
  });
at("state").addEventListener("change", () => { view.shown = PAGE_SIZE; refresh(); });
at("all-batches").addEventListener("click", () => showBatch(null));
at("more").addEventListener("click", () => { view.shown = Math.min(MAX_SHOWN, view.shown + PAGE_SIZE); refresh(); });
at("reader-close").addEventListener("click", () => at("reader").close());
at("reader").addEventListener("close", () => at("reader-page").removeAttribute("srcdoc"));

(async () => {
  if (key()) await signIn();
  else signOut();
  for (;;) {
    await sleep(REFRESH_SECONDS);
    if (key() && !document.hidden && !at("signed-in").hidden) await refresh();
  }
})();
