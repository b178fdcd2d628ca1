// What is typed into a form stays in this tab until the service has taken it: through a refusal, the end of a session,
// or a page that is left. Only the person who typed it sees it again. Pages without this script keep nothing.
"use strict";
{
  const PREFIX = "words of ", SENT = "words sent";
  const TEXTS = "textarea, input:not([type]), input[type=text], input[type=email]";
  const FIELDS = `${TEXTS}, input[type=radio], select`;
  const { who, session } = document.body.dataset;
  const holdsWords = (form) => form.method === "post" && form.querySelector(TEXTS) !== null;
  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches(FIELDS));
  const drafts = () => Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
  /** By where the form goes, and about what: one page has many that go to one address. */
  function nameOf(form) {
    const about = [...form.elements].filter((field) => field.type === "hidden" && field.name !== "csrf_token");
    return [PREFIX + (form.getAttribute("action") ?? location.pathname), ...about.map((field) => field.value)].join("\n");
  }
  function keep(form) {
    const typed = fieldsOf(form).filter((field) => field.type !== "radio" || field.checked);
    if (!typed.some((field) => field.matches(TEXTS) && field.value !== field.defaultValue)) return sessionStorage.removeItem(nameOf(form));
    const fields = Object.fromEntries(typed.map((field) => [field.name, field.value]));
    try {
      sessionStorage.setItem(nameOf(form), JSON.stringify({ who, session, fields }));
    } catch {} // no room: what the service takes is all the same
  }
  function putBack(form, draft) {
    let differs = false;
    for (const field of fieldsOf(form)) {
      const value = draft.fields[field.name];
      if (value === undefined) continue;
      if (field.type === "radio") field.checked = field.value === value;
      else if (field.value !== value) {
        field.value = value;
        differs = true;
      }
    }
    if (!differs) return;
    const note = document.createElement("p"), forget = document.createElement("button");
    note.className = "notice";
    note.setAttribute("role", "status");
    note.append(`${draft.session === session ? "Your text, which has not been saved yet." : "Your text from before you were signed out."} `, forget);
    forget.type = "button";
    forget.textContent = "Forget them";
    forget.addEventListener("click", () => {
      sessionStorage.removeItem(nameOf(form));
      form.reset();
      note.remove();
    });
    form.prepend(note);
    form.closest("details")?.setAttribute("open", "");
  }

  // A form that was taken is answered with the way to another page, in the session in which it was sent.
  const sent = sessionStorage.getItem(SENT), [arrival] = performance.getEntriesByType("navigation");
  sessionStorage.removeItem(SENT);
  if (who) for (const name of drafts()) {
    const draft = JSON.parse(sessionStorage.getItem(name));
    const taken = name === sent && draft.session === session && arrival?.type === "navigate" && arrival.redirectCount > 0;
    if (taken || draft.who !== who) sessionStorage.removeItem(name);
  }
  for (const form of document.forms) {
    const draft = who && holdsWords(form) && sessionStorage.getItem(nameOf(form));
    if (draft) putBack(form, JSON.parse(draft));
  }
  document.addEventListener("input", ({ target: { form } }) => { if (who && form && holdsWords(form)) keep(form); });
  document.addEventListener("submit", ({ target: form }) => {
    sessionStorage.removeItem(SENT);
    if (form.hasAttribute("data-signs-out")) for (const name of drafts()) sessionStorage.removeItem(name);
    if (!who || !holdsWords(form)) return;
    keep(form);
    sessionStorage.setItem(SENT, nameOf(form));
  });
}
