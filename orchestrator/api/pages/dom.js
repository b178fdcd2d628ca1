// Elements are built from text and attributes, never from markup: what the service returns is data.
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

const button = (text, press, look = "quiet", what = text) =>
  h("button", { type: "button", class: look, "aria-label": what, onclick: press }, text);

const number = new Intl.NumberFormat("en");
const count = (n, one, many = one + "s") => `${number.format(n)} ${n === 1 ? one : many}`;
const money = (usd) => (usd == null ? "cost unknown" : usd === 0 ? "$0" : usd < 0.01 ? "under $0.01" : `$${usd.toFixed(2)}`);

function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
function ago(moment) {
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1000);
  return seconds < 5 ? "just now" : seconds < 86400 ? `${duration(Math.round(seconds)).replace(".0", "")} ago` : moment.slice(0, 10);
}

// Shares of a whole as one stacked bar, read out as its label.
function stacked(shares, label, look = "bar-of") {
  const whole = shares.reduce((sum, [, share]) => sum + share, 0) || 1;
  let x = 0;
  const bars = shares.map(([name, share]) => {
    const bar = s("rect", { class: name, x: `${(100 * x) / whole}%`, width: `${(100 * share) / whole}%`, height: 8 });
    x += share;
    return bar;
  });
  return s("svg", { class: look, height: 8, role: "img", "aria-label": label }, bars);
}

// Replaces the children of a list by key, so that what is open stays open and focus is not lost.
function reconcile(list, items, key, draw, redraw) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  items.forEach((item, index) => {
    let row = known.get(key(item));
    if (row) known.delete(key(item));
    else {
      row = draw(item);
      row.dataset.key = key(item);
    }
    redraw(row, item);
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] || null);
  });
  known.forEach((row) => row.remove());
}
