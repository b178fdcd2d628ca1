// Refreshes the progress of calls when the service reports a change. Without this script, people have to reload the page.
// A browser opens at most six connections to a service, over all of its tabs. So a hidden tab holds none, and on a page
// with many calls, those after the third are polled every 15 seconds.
const STREAMS = 3, NOW_AND_THEN = 15_000, AT_LEAST = 3_000;
for (const [place, box] of [...document.querySelectorAll("[data-events]")].entries()) {
  let events = null, ended = false, last = 0, waiting = null, silent = null;
  const renew = () => { last = Date.now(); htmx.trigger(box, "changed"); };
  // Refresh immediately after a pause; combine changes in quick succession.
  const soon = () => { waiting ??= setTimeout(() => { waiting = null; renew(); }, Math.max(0, last + AT_LEAST - Date.now())); };
  const leave = () => { events?.close(); events = null; };
  // The service ends long streams, and the browser reconnects immediately; if that takes longer, the service is unreachable.
  const lost = () => {
    const note = document.createElement("p"), since = new Date().toTimeString().slice(0, 5);
    Object.assign(note, { className: "notice alarm", textContent: `The service has been unreachable since ${since}. These figures may be out of date.` });
    note.setAttribute("role", "status");
    note.dataset.lost = "";
    if (!box.querySelector("[data-lost]")) box.prepend(note);
  };
  const found = () => {
    clearTimeout(silent);
    silent = null;
    if (box.querySelector("[data-lost]")) renew();
  };
  const listen = () => {
    if (ended || events || document.hidden) return;
    events = new EventSource(box.dataset.events);
    events.addEventListener("progress", soon);
    events.addEventListener("open", found);
    events.addEventListener("error", () => { silent ??= setTimeout(lost, AT_LEAST); });
    for (const end of ["finished", "succeeded", "failed", "cancelled"])
      events.addEventListener(end, () => { ended = true; leave(); renew(); });
  };
  if (place < STREAMS) {
    listen();
    document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else if (!ended) { listen(); renew(); } });
    addEventListener("pagehide", leave);
  } else setInterval(() => { if (!document.hidden) renew(); }, NOW_AND_THEN);
}
