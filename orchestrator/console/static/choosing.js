// Keeps the proposals selected in a table while it is searched, sorted or paged, and enables the “Compare” button
// while their number is within its limits. A button with `data-ticks` ticks or unticks all boxes of that name in its
// form.
"use strict";
{
  const kept = new Set();
  const boxesOf = (form) => [...form.querySelectorAll("[type=checkbox][name=id]")];
  const renew = () => {
    const form = document.getElementById("comparing");
    if (!form) return;
    const { least, most } = form.dataset, shown = new Set(boxesOf(form).map((box) => box.value));
    const elsewhere = [...kept].filter((id) => !shown.has(id));
    for (const field of form.querySelectorAll("[data-kept]")) field.remove();
    for (const id of elsewhere) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "id", value: id });
      field.dataset.kept = "";
      form.append(field);
    }
    const fits = kept.size >= least && kept.size <= most;
    form.querySelector("button").disabled = !fits;
    const counted = `${kept.size} chosen${elsewhere.length ? `, ${elsewhere.length} of them not shown here` : ""}`;
    document.getElementById("chosen").textContent = fits ? counted : `${counted}: choose ${least} to ${most}`;
    document.getElementById("unchoose").hidden = !kept.size;
  };
  const ticksOf = (button) => [...button.form.querySelectorAll(`[type=checkbox][name=${button.dataset.ticks}]`)];
  const label = () => {
    for (const button of document.querySelectorAll("[data-ticks]")) {
      const boxes = ticksOf(button);
      button.hidden = !boxes.length;
      button.textContent = boxes.every((box) => box.checked) ? "Untick all" : `Tick all ${boxes.length}`;
    }
  };
  const restore = () => {
    const form = document.getElementById("comparing");
    if (form) for (const box of boxesOf(form)) box.checked = kept.has(box.value);
    renew();
  };
  document.addEventListener("change", ({ target }) => {
    if (target.matches("#comparing [type=checkbox][name=id]")) kept[target.checked ? "add" : "delete"](target.value);
    renew();
    label();
  });
  document.addEventListener("click", ({ target }) => {
    if (target.dataset.ticks) {
      const boxes = ticksOf(target), all = boxes.every((box) => box.checked);
      for (const box of boxes) box.checked = !all;
      label();
    }
    if (target.id !== "unchoose") return;
    kept.clear();
    restore();
  });
  document.addEventListener("htmx:afterSettle", restore); // the table was replaced
  addEventListener("pageshow", () => { // the browser's Back leaves boxes ticked
    const form = document.getElementById("comparing");
    if (form) for (const box of boxesOf(form)) if (box.checked) kept.add(box.value);
    renew();
    label();
  });
}
