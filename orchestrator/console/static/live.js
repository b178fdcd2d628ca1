// Renews what follows a call, when the service says that something has changed; without it, reload the page.
// A browser holds six connections to a service, over all of its tabs: a tab that nobody looks at holds none, and where a
// page follows many calls, those after the third are asked for now and then.
const STREAMS = 3, NOW_AND_THEN = 15_000;
const renew = (box) => htmx.trigger(box, "changed");
for (const [place, box] of [...document.querySelectorAll("[data-events]")].entries()) {
  let events = null, ended = false;
  const leave = () => { events?.close(); events = null; };
  const listen = () => {
    if (ended || events || document.hidden) return;
    events = new EventSource(box.dataset.events);
    events.addEventListener("progress", () => renew(box));
    for (const end of ["finished", "done", "failed", "dead", "cancelled"])
      events.addEventListener(end, () => { ended = true; leave(); renew(box); });
  };
  if (place < STREAMS) {
    listen();
    document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else if (!ended) { listen(); renew(box); } });
    addEventListener("pagehide", leave);
  } else setInterval(() => { if (!document.hidden) renew(box); }, NOW_AND_THEN);
}
