// One evaluation in detail: its stages while it runs, its timeline afterwards.
function stages(progress) {
  return h("dl", { class: "stages" }, progress.map(({ stage, done, total }) => [
    h("dt", {}, stage.replaceAll("_", " ")),
    h("dd", {}, h("progress", { value: done, max: Math.max(total, 1), "aria-label": `${stage}: ${done} of ${total}` })),
    h("dd", { class: "n" }, `${done} of ${total}`),
  ]));
}

function timeline(found) {
  const start = Date.parse(found.start);
  const whole = Math.max(1, ...found.spans.map((span) => Date.parse(span.end) - start), Date.parse(found.end) - start);
  const x = (moment) => Math.max(0, (1000 * (Date.parse(moment) - start)) / whole);
  const calls = found.spans.filter((span) => span.kind === "call" && span.outcome !== "cached");
  const rows = new Map();
  for (const span of found.spans.filter((span) => span.kind !== "call"))
    rows.set(span.name, [...(rows.get(span.name) || []), span]);
  const bars = [...rows].map(([name, spans]) => [
    h("span", {}, name.replaceAll("_", " ")),
    s("svg", { viewBox: "0 0 1000 10", height: 10, preserveAspectRatio: "none" }, spans.map((span) =>
      s("rect", { class: span.outcome === "failed" ? "failed" : span.kind, x: x(span.start), width: Math.max(2, x(span.end) - x(span.start)), height: 10 }))),
  ]);
  const { corners, most } = curve(calls, x);
  const seconds = whole / 1000;
  const label = `${count(calls.length, "call")} in ${duration(seconds)}, at most ${most} at once`;
  return h("div", { class: "small-chart", role: "img", "aria-label": label },
    bars,
    h("span", {}, `concurrent calls (at most ${most})`),
    s("svg", { viewBox: "0 0 1000 40", height: 40, preserveAspectRatio: "none" }, s("polygon", { class: "curve", points: corners })),
    h("span", {}), h("span", { class: "scale" }, h("span", {}, "0 s"), h("span", {}, duration(seconds))));
}

function curve(calls, x) {
  const changes = calls.flatMap((call) => [[x(call.start), 1], [x(call.end), -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let running = 0, most = 0;
  const steps = [[0, 0]];
  for (const [place, change] of changes) {
    steps.push([place, running]);
    running += change;
    most = Math.max(most, running);
    steps.push([place, running]);
  }
  steps.push([1000, 0]);
  return { most, corners: steps.map(([place, n]) => `${place},${40 - (38 * n) / Math.max(most, 1)}`).join(" ") };
}
