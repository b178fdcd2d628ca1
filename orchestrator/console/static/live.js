// Renews what follows a call, when the service says that something has changed; without it, reload the page.
// A browser holds six connections to a service, over all of its tabs: a tab that nobody looks at holds none, and where a
// page follows many calls, those after the third are asked for now and then.
const STREAMS = 3, NOW_AND_THEN = 15_000, AT_LEAST = 3_000;
for (const [place, box] of [...document.querySelectorAll("[data-events]")].entries()) {
  let events = null, ended = false, last = 0, waiting = null;
  const renew = () => { last = Date.now(); htmx.trigger(box, "changed"); };
  // At once after a pause; changes that follow one another quickly are one.
  const soon = () => { waiting ??= setTimeout(() => { waiting = null; renew(); }, Math.max(0, last + AT_LEAST - Date.now())); };
  const leave = () => { events?.close(); events = null; };
  const listen = () => {
    if (ended || events || document.hidden) return;
    events = new EventSource(box.dataset.events);
    events.addEventListener("progress", soon);
    for (const end of ["finished", "succeeded", "failed", "cancelled"])
      events.addEventListener(end, () => { ended = true; leave(); renew(); });
  };
  if (place < STREAMS) {
    listen();
    document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else if (!ended) { listen(); renew(); } });
    addEventListener("pagehide", leave);
  } else setInterval(() => { if (!document.hidden) renew(); }, NOW_AND_THEN);
}
