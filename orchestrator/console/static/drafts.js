// Keeps text typed into a form in this tab until the service has accepted it, even if the form is refused, the
// session ends or the person leaves the page. Only the person who typed it sees it again.
"use strict";
{
  const PREFIX = "words of ", SENT = "words sent";
  const TEXTS = "textarea, input:not([type]), input[type=text], input[type=email]";
  const FIELDS = `${TEXTS}, input[type=radio], select`;
  const { who, session } = document.body.dataset;
  const holdsWords = (form) => form.method === "post" && form.querySelector(TEXTS) !== null;
  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches(FIELDS));
  const drafts = () => Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
  /** Storage key of a form: its action and its hidden fields, because one page has many forms with the same action. */
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
    } catch {} // storage is full; the form can still be submitted
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
    note.append(`${draft.session === session ? "Your unsaved text." : "Your text from before you were signed out."} `, forget);
    forget.type = "button";
    forget.textContent = "Discard it";
    forget.addEventListener("click", () => {
      sessionStorage.removeItem(nameOf(form));
      form.reset();
      note.remove();
    });
    form.prepend(note);
    form.closest("details")?.setAttribute("open", "");
  }

  // An accepted form is answered with a redirect, in the session in which it was sent; its draft is then deleted.
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
