// Which files a call is made of, and the parts in which they are sent: none is larger than what the service takes at once.
"use strict";

const LITTER = /^(\.|~\$|Thumbs\.db$|desktop\.ini$|__MACOSX$)/i;
const OF_LINES = /\.(jsonl|ndjson|csv)$/i;
const NEWLINE = 10, QUOTE = 34;

/** What was dropped, each file with its `path`; of folders, everything in them. */
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return chosenFiles(transfer.files);
  const found = [];
  while (entries.length) {
    const entry = entries.shift();
    if (LITTER.test(entry.name)) continue;
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      found.push(Object.assign(file, { path: entry.fullPath.slice(1) }));
      continue;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) break;
      entries.push(...some);
    }
  }
  return found;
}

/** Those of an input, each with its `path`, without what systems leave in folders. */
function chosenFiles(files) {
  const withPaths = [...files].map((file) => Object.assign(file, { path: file.webkitRelativePath || file.name }));
  return withPaths.filter((file) => !file.path.split("/").some((name) => LITTER.test(name)));
}

/** Under names that tell them apart: the folders' as well, where the files' own are the same. */
function namedApart(files) {
  const times = new Map();
  for (const { name } of files) times.set(name, (times.get(name) || 0) + 1);
  return files.map((file) => times.get(file.name) === 1 ? file : new File([file], file.path.replaceAll("/", " - "), { type: file.type }));
}

/** Lists of files, one for each request; a table too large for one is cut between its rows, and its header repeated. */
async function* uploadParts(files, mostBytes, mostFileBytes) {
  let part = [], bytes = 0;
  for (const file of files)
    for await (const piece of pieces(file, mostFileBytes)) {
      if (part.length && bytes + piece.size > mostBytes) {
        yield part;
        part = [];
        bytes = 0;
      }
      part.push(piece);
      bytes += piece.size;
    }
  if (part.length) yield part;
}

/** Why a file can be sent in no part; null where it can. */
function tooLarge(file, mostFileBytes) {
  if (file.size <= mostFileBytes || OF_LINES.test(file.name)) return null;
  const most = `${Math.floor(mostFileBytes / 1e6)} MB`;
  return /\.zip$/i.test(file.name)
    ? `It has more than ${most}. Unpack it, and choose the folder: folders may be as large as you like.`
    : `It has more than ${most}, the most for one file.`;
}

async function* pieces(file, most) {
  if (file.size <= most) {
    yield file;
    return;
  }
  const table = /\.csv$/i.test(file.name);
  const header = table ? await firstRow(file, most) : new Blob();
  let start = header.size, number = 1;
  while (start < file.size) {
    const end = Math.min(start + most - header.size, file.size);
    const bytes = new Uint8Array(await file.slice(start, end).arrayBuffer());
    const whole = end === file.size ? bytes.length : endOfRows(bytes, table);
    if (!whole) throw new Error(`A row of ${file.name} is larger than a request may be.`);
    const name = file.name.replace(/(\.\w+)$/, ` (part ${number++})$1`);
    yield new File([header, file.slice(start, start + whole)], name);
    start += whole;
  }
}

async function firstRow(file, most) {
  const bytes = new Uint8Array(await file.slice(0, Math.min(most, 1_000_000)).arrayBuffer());
  const end = endOfRows(bytes, true, true);
  if (!end) throw new Error(`The first row of ${file.name} does not end.`);
  return file.slice(0, end);
}

/** Where the last whole row ends, or the first; line ends within quotes belong to a field of a table. 0: none does. */
function endOfRows(bytes, quoted, onlyFirst = false) {
  let end = 0, within = false;
  for (let at = 0; at < bytes.length; at++) {
    if (quoted && bytes[at] === QUOTE) within = !within;
    else if (bytes[at] === NEWLINE && !within) {
      end = at + 1;
      if (onlyFirst) break;
    }
  }
  return end;
}
