// Renews what follows a call, when the service says that something has changed; without it, reload the page.
for (const box of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(box.dataset.events);
  const renew = () => htmx.trigger(box, "changed");
  events.addEventListener("progress", renew);
  for (const end of ["finished", "done", "failed", "dead", "cancelled"]) events.addEventListener(end, () => { events.close(); renew(); });
}
