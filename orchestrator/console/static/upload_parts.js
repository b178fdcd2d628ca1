// Collects a call's files, and splits them into parts that are small enough for one request.
"use strict";

const LITTER = /^(\.|~\$|Thumbs\.db$|desktop\.ini$|__MACOSX$)/i;
const OF_LINES = /\.(jsonl|ndjson|csv)$/i;
const NEWLINE = 10, QUOTE = 34;
const PART_BYTES = 16_000_000, PART_ROWS = 5_000; // the service reads a part of this size within its time limit, even when busy

/** Returns the dropped files, each with its `path`, including everything in dropped folders. */
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

/** Returns an input's files, each with its `path`, except hidden files and those of the operating system. */
function chosenFiles(files) {
  const withPaths = [...files].map((file) => Object.assign(file, { path: file.webkitRelativePath || file.name }));
  return withPaths.filter((file) => !file.path.split("/").some((name) => LITTER.test(name)));
}

/** Returns the files with unique names: files with the same name are renamed to include their folders. */
function namedApart(files) {
  const times = new Map();
  for (const { name } of files) times.set(name, (times.get(name) || 0) + 1);
  return files.map((file) => times.get(file.name) === 1 ? file : new File([file], file.path.replaceAll("/", " - "), { type: file.type }));
}

/** Yields lists of files, one for each request. A table that is too large is split between rows, repeating its header. */
async function* uploadParts(files, mostBytes, mostFileBytes) {
  const most = Math.min(mostBytes, PART_BYTES);
  let part = [], bytes = 0, rows = 0;
  for (const file of files)
    for await (const [piece, ofPiece] of pieces(file, Math.min(mostFileBytes, most), PART_ROWS)) {
      if (part.length && (bytes + piece.size > most || rows + ofPiece > PART_ROWS)) {
        yield part;
        part = [];
        bytes = rows = 0;
      }
      part.push(piece);
      bytes += piece.size;
      rows += ofPiece;
    }
  if (part.length) yield part;
}

/** Splits a part into smaller ones, in the same order: half of its files, or half of a table. Null if it cannot be split. */
async function smallerParts(part) {
  if (part.length > 1) {
    const half = part.length >> 1;
    return [part.slice(0, half), part.slice(half)];
  }
  const [file] = part;
  if (!OF_LINES.test(file.name)) return null;
  const found = [];
  const header = /\.csv$/i.test(file.name) ? await firstRow(file, file.size) : new Blob();
  try {
    for await (const [piece] of pieces(file, header.size + Math.ceil((file.size - header.size) / 2), Infinity)) found.push([piece]);
  } catch {
    return null; // one row is larger than half of the table
  }
  return found.length > 1 ? found : null;
}

/** Returns why a file cannot be sent in any part; null if it can. */
function tooLarge(file, mostFileBytes) {
  if (file.size <= mostFileBytes || OF_LINES.test(file.name)) return null;
  const most = `${Math.floor(mostFileBytes / 1e6)} MB`;
  return /\.zip$/i.test(file.name)
    ? `The file is larger than ${most}. Unpack it and choose the folder instead; folders have no size limit.`
    : `The file is larger than ${most}, the limit per file.`;
}

/** Yields pieces with their number of rows: a table of lines is split between rows, repeating its header; any other file stays whole. */
async function* pieces(file, most, mostRows) {
  if (!OF_LINES.test(file.name)) {
    yield [file, 1];
    return;
  }
  const table = /\.csv$/i.test(file.name);
  if (file.size <= most) {
    const [end, rows] = wholeRows(new Uint8Array(await file.arrayBuffer()), table, mostRows);
    if (rows < mostRows || end === file.size) {
      yield [file, rows];
      return;
    }
  }
  const header = table ? await firstRow(file, most) : new Blob();
  let start = header.size, number = 1;
  while (start < file.size) {
    const end = Math.min(start + most - header.size, file.size);
    const bytes = new Uint8Array(await file.slice(start, end).arrayBuffer());
    const [upTo, rows] = wholeRows(bytes, table, mostRows);
    const whole = end === file.size && rows < mostRows ? bytes.length : upTo;
    if (!whole) throw new Error(`A row in ${file.name} is too large for a request.`);
    yield [new File([header, file.slice(start, start + whole)], nameOfPart(file.name, number++)), rows];
    start += whole;
  }
}

/** Names a part: `call.csv` becomes `call (part 2).csv`, and a part of that becomes `call (part 2.1).csv`. */
function nameOfPart(name, number) {
  const of = /^(.*) \(part ([\d.]+)\)(\.\w+)$/.exec(name);
  return of ? `${of[1]} (part ${of[2]}.${number})${of[3]}` : name.replace(/(\.\w+)$/, ` (part ${number})$1`);
}

async function firstRow(file, most) {
  const bytes = new Uint8Array(await file.slice(0, Math.min(most, 1_000_000)).arrayBuffer());
  const [end] = wholeRows(bytes, true, 1);
  if (!end) throw new Error(`The first row in ${file.name} has no end.`);
  return file.slice(0, end);
}

/** Returns the offset at which the last complete row ends (0 if there is none) and the number of rows, at most `mostRows`.
 * Line ends within quotes belong to a field. */
function wholeRows(bytes, quoted, mostRows) {
  let end = 0, rows = 0, within = false;
  for (let at = 0; at < bytes.length && rows < mostRows; at++) {
    if (quoted && bytes[at] === QUOTE) within = !within;
    else if (bytes[at] === NEWLINE && !within) {
      end = at + 1;
      rows++;
    }
  }
  return [end, rows];
}
