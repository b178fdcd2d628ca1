// Which files a call is made of, and the parts in which they are sent: none is larger than what the service takes at once.
"use strict";

const LITTER = /^(\.|~\$|Thumbs\.db$|desktop\.ini$|__MACOSX$)/i;
const OF_LINES = /\.(jsonl|ndjson|csv)$/i;
const NEWLINE = 10, QUOTE = 34;
const PART_BYTES = 16_000_000, PART_ROWS = 5_000; // the service reads so much well within its time, however busy it is

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

/** The same in smaller parts, in the same order: half of its files, or a table in halves. Null where it cannot be less. */
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
    return null; // one row is more than half of it
  }
  return found.length > 1 ? found : null;
}

/** Why a file can be sent in no part; null where it can. */
function tooLarge(file, mostFileBytes) {
  if (file.size <= mostFileBytes || OF_LINES.test(file.name)) return null;
  const most = `${Math.floor(mostFileBytes / 1e6)} MB`;
  return /\.zip$/i.test(file.name)
    ? `It is larger than ${most}. Unpack it and choose the folder: folders have no size limit.`
    : `It is larger than ${most}, the limit for one file.`;
}

/** A table of lines cut between its rows, the header repeated in each piece; any other file as it is. Each with its rows. */
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
    if (!whole) throw new Error(`A row of ${file.name} is too large for a request.`);
    yield [new File([header, file.slice(start, start + whole)], nameOfPart(file.name, number++)), rows];
    start += whole;
  }
}

/** `call.csv` in parts is `call (part 2).csv`, and that in parts `call (part 2.1).csv`. */
function nameOfPart(name, number) {
  const of = /^(.*) \(part ([\d.]+)\)(\.\w+)$/.exec(name);
  return of ? `${of[1]} (part ${of[2]}.${number})${of[3]}` : name.replace(/(\.\w+)$/, ` (part ${number})$1`);
}

async function firstRow(file, most) {
  const bytes = new Uint8Array(await file.slice(0, Math.min(most, 1_000_000)).arrayBuffer());
  const [end] = wholeRows(bytes, true, 1);
  if (!end) throw new Error(`The first row of ${file.name} does not end.`);
  return file.slice(0, end);
}

/** Where the last whole row ends, of so many at most, and how many they are; line ends within quotes belong to a field of
 * a table. 0: none does. */
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
