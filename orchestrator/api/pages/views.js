// Rows of the lists: each is created once and then updated.
const open = new Map(); // evaluations whose details are open, with what stops their event stream
const STATE_LABELS = { dead: "gave up" };
const labelOf = (state) => STATE_LABELS[state] || state;

function jobRow(job) {
  const row = h("li", {},
    h("div", { class: "item" }, h("p", { class: "title", dir: "auto" }), h("p", { class: "meta" }), h("div", { class: "acts" })),
    h("div", { class: "trouble" }), h("div", { class: "details", hidden: true }));
  row.job = job;
  return row;
}

function redrawJob(row, job) {
  const stamp = JSON.stringify([job.state, job.attempt, job.cost_usd, ago(job.created_at)]);
  if (row.dataset.stamp === stamp) return;
  const moved = row.job.state !== job.state;
  row.dataset.stamp = stamp;
  row.job = job;
  const [title, meta, acts] = row.querySelectorAll(".title, .meta, .acts");
  title.textContent = job.title;
  meta.replaceChildren(...facts(job));
  const trouble = row.querySelector(".trouble");
  trouble.replaceChildren(...(job.problem ? [h("p", { class: "problem", dir: "auto" }, h("strong", {}, `${job.problem.title}. `), job.problem.detail)] : []));
  if (moved || !acts.children.length) acts.replaceChildren(...actions(row));
  if (moved && open.has(job.id)) showDetails(row);
}

function facts(job) {
  const took = job.started_at && job.finished_at ? `took ${duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000)}` : null;
  const parts = [`submitted ${ago(job.created_at)}`, took, job.attempt > 1 ? `attempt ${job.attempt}` : null,
    job.flags.length ? `suspicious text: ${job.flags.map((one) => one.replaceAll("_", " ")).join(", ")}` : null, job.row != null ? `row ${job.row}` : null, TERMINAL.has(job.state) ? money(job.cost_usd) : null];
  return [h("span", { class: `badge ${job.state}` }, labelOf(job.state)), parts.filter(Boolean).join(" · ")];
}

function actions(row) {
  const job = row.job;
  const acts = [];
  if (job.state === "done") acts.push(button("Report", () => readReport(job), "quiet", `Read the report on ${job.title}`));
  const toggle = button("Details", () => (open.has(job.id) ? hideDetails(row) : showDetails(row)), "quiet", `Progress of ${job.title}`);
  toggle.setAttribute("aria-expanded", String(open.has(job.id)));
  acts.push(toggle);
  if (!TERMINAL.has(job.state))
    acts.push(button("Cancel", () => attempt(async () => { redrawJob(row, await cancelled(job.links.evaluation)); announce(`Cancelled ${job.title}`); }), "quiet danger", `Cancel ${job.title}`));
  return acts;
}

function hideDetails(row) {
  open.get(row.job.id)?.abort();
  open.delete(row.job.id);
  row.querySelector(".details").hidden = true;
  row.querySelector("[aria-expanded]")?.setAttribute("aria-expanded", "false");
}

// One event stream at a time: browsers limit connections to one server.
function showDetails(row) {
  for (const id of [...open.keys()]) {
    const other = document.querySelector(`#jobs > [data-key="${CSS.escape(id)}"]`);
    if (other) hideDetails(other); else { open.get(id).abort(); open.delete(id); }
  }
  const stop = new AbortController();
  open.set(row.job.id, stop);
  const box = row.querySelector(".details");
  box.hidden = false;
  row.querySelector("[aria-expanded]")?.setAttribute("aria-expanded", "true");
  if (!box.children.length) box.replaceChildren(h("p", { class: "aside" }, "Waiting for progress …"));
  attempt(() => (TERMINAL.has(row.job.state) ? drawTimeline(row, box) : listen(row, box, stop.signal)));
}

async function drawTimeline(row, box) {
  box.replaceChildren(timeline(await read(row.job.links.timeline)));
}

async function listen(row, box, signal) {
  for await (const { data } of events(row.job.links.events, signal)) {
    if (data.kind === "progress") box.replaceChildren(stages(data.data.stages));
    else if (TERMINAL.has(data.kind)) return refreshAll();
    else box.replaceChildren(h("p", { class: "aside" }, `${labelOf(data.kind)}${data.data.reason ? `: ${data.data.reason}` : ""}`));
  }
}

function batchRow() {
  return h("li", {}, h("div", { class: "item" }, h("p", { class: "title", dir: "auto" }), h("p", { class: "meta" }), h("div", { class: "acts" })), h("div", { class: "trouble" }));
}

const STATE_ORDER = ["done", "failed", "dead", "cancelled", "running", "queued"];

function redrawBatch(row, batch) {
  const stamp = JSON.stringify([batch.states, batch.rejected, batch.cost_usd, batch.finished_at]);
  if (row.dataset.stamp === stamp) return;
  row.dataset.stamp = stamp;
  const [title, meta, acts] = row.querySelectorAll(".title, .meta, .acts");
  title.textContent = batch.name || `${count(batch.rows, "row")}, ${batch.created_at.slice(0, 10)}`;
  const shares = STATE_ORDER.map((state) => [state, batch.states[state] || 0]).filter(([, n]) => n);
  const words = shares.map(([state, n]) => `${number.format(n)} ${labelOf(state)}`);
  if (batch.rejected) words.push(`${count(batch.rejected, "row")} rejected`);
  const pace = !batch.finished_at && batch.ideas_per_hour ? `${number.format(Math.round(batch.ideas_per_hour))} per hour` : null;
  meta.replaceChildren([count(batch.rows, "row"), ...words, pace, money(batch.cost_usd), ago(batch.created_at)].filter(Boolean).join(" · "));
  row.querySelector(".trouble").replaceChildren(stacked([...shares, ["rejected", batch.rejected]], words.join(", ")));
  acts.replaceChildren(
    button("Show evaluations", () => showBatch(batch), "quiet", `Show the evaluations of ${title.textContent}`),
    ...["csv", "jsonl", "parquet"].map((format) => button(format.toUpperCase(), () => attempt(() => download(batch, format)), "quiet", `Results of ${title.textContent} as ${format}`)),
    ...(batch.finished_at || !shares.some(([state]) => !TERMINAL.has(state)) ? [] : [button("Cancel", () => attempt(async () => { await cancelled(batch.links.batch); announce("Cancelled the batch"); await refreshAll(); }), "quiet danger", `Cancel ${title.textContent}`)]));
}
