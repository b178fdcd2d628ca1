// Shows refused rows, each with the reason and with fields for a replacement.
"use strict";

const MOST_SHOWN = 200;

/** Returns a new element with these properties and children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Shows refused rows. With `stored`, they are already part of the call, and their replacements refer to them. */
function showRefused(section, rows, stored = false) {
  const list = section.querySelector("ul");
  section.querySelector("h2").textContent = `${rows.length.toLocaleString("en")} refused`;
  list.replaceChildren(...rows.slice(0, MOST_SHOWN).map((row, place) => refusedRow(row, place, stored)));
  if (rows.length > MOST_SHOWN) list.append(element("li", {}, `and ${rows.length - MOST_SHOWN} more`));
  section.hidden = !rows.length;
}

function refusedRow(row, place, stored) {
  const file = element("input", { type: "file", id: `instead-${place}` });
  const text = element("textarea", { rows: 6, id: `text-${place}` });
  const item = element("li", {},
    element("p", { dir: "auto" }, row.detail),
    element("details", {}, element("summary", {}, `Fix ${row.source}`),
      element("label", { htmlFor: file.id }, "Replacement file ", file),
      element("label", { htmlFor: text.id }, "Or its text", text)));
  item.dataset.source = row.source;
  if (stored) item.dataset.row = row.row;
  return item;
}

/** Returns the replacements by the source that they replace; text becomes a file. */
function mendedRows(section) {
  const mended = new Map();
  for (const item of section.querySelectorAll("li[data-source]")) {
    const [file] = item.querySelector("input").files, text = item.querySelector("textarea").value.trim();
    if (file) mended.set(item.dataset.source, file);
    else if (text) mended.set(item.dataset.source, textFile(item.dataset.source, text));
  }
  return mended;
}

const textFile = (name, text) => new File([text], `${name.replace(/[/\\]/g, " ")}.txt`, { type: "text/plain" });
