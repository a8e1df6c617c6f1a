// Texts cut into words or graphemes, with offsets in code points.

/** @typedef {{text: string, start: number, end: number, stop: boolean}} Piece */

/** @type {Map<string, Intl.Segmenter>} */
const segmenters = new Map();

/** @param {string} language @param {"word" | "grapheme"} granularity */
function segmenter(language, granularity) {
  const name = `${language} ${granularity}`;
  if (!segmenters.has(name)) {
    let made;
    try {
      made = new Intl.Segmenter(language || undefined, { granularity });
    } catch {
      made = new Intl.Segmenter(undefined, { granularity });
    }
    segmenters.set(name, made);
  }
  return /** @type {Intl.Segmenter} */ (segmenters.get(name));
}

/** @param {string} text @param {string} language @param {"word" | "grapheme"} granularity */
function edges(text, language, granularity) {
  if (typeof Intl.Segmenter === "undefined") {
    const cut = granularity === "word" ? /\s+|[^\s]+/gu : /./gsu;
    return Array.from(text.matchAll(cut), (found) => found.index);
  }
  return Array.from(segmenter(language, granularity).segment(text), (found) => found.index);
}

/**
 * The pieces of a text; `cuts` are additional edges in code points, where marks begin and end.
 * @param {string} text
 * @param {string} language
 * @param {boolean} byWord
 * @param {Iterable<number>} [cuts]
 * @returns {Piece[]}
 */
export function pieces(text, language, byWord, cuts = []) {
  const whole = edges(text, language, "grapheme");
  let places = whole;
  if (byWord) { // a word never ends inside a grapheme
    const allowed = new Set(whole);
    places = edges(text, language, "word").filter((place) => allowed.has(place));
  }
  const units = new Set(places);
  for (const cut of cuts) units.add(unitOffset(text, cut));
  units.delete(text.length);
  const sorted = [...units].sort((a, b) => a - b);
  /** @type {Piece[]} */
  const found = [];
  let start = 0;
  sorted.forEach((place, number) => {
    const part = text.slice(place, sorted[number + 1] ?? text.length);
    const end = start + codePoints(part);
    found.push({ text: part, start, end, stop: !/^\s*$/u.test(part) });
    start = end;
  });
  return found;
}

/** The number of code points in a text. @param {string} text */
export function codePoints(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** An offset in code points converted to UTF-16 units. @param {string} text @param {number} offset */
export function unitOffset(text, offset) {
  let units = 0;
  for (const sign of text) {
    if (offset-- <= 0) break;
    units += sign.length;
  }
  return units;
}

/** Part of a text, by code points. @param {string} text @param {number} start @param {number} end */
export function stretch(text, start, end) {
  return text.slice(unitOffset(text, start), unitOffset(text, end));
}

/**
 * The changes between two texts, word by word: [kind, text] with `same`, `out` and `in`.
 * @param {string} before
 * @param {string} after
 * @param {string} language
 * @returns {[string, string][]}
 */
export function changes(before, after, language) {
  const a = pieces(before, language, true).map((piece) => piece.text);
  const b = pieces(after, language, true).map((piece) => piece.text);
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first += 1;
  let last = 0;
  while (last < a.length - first && last < b.length - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last += 1;
  const middle = longestCommon(a.slice(first, a.length - last), b.slice(first, b.length - last));
  const all = [...a.slice(0, first).map((text) => ["same", text]), ...middle, ...a.slice(a.length - last).map((text) => ["same", text])];
  return joined(/** @type {[string, string][]} */ (all));
}

/** @param {string[]} a @param {string[]} b @returns {[string, string][]} */
function longestCommon(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = a[i] === b[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  /** @type {[string, string][]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(["same", a[i]]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      found.push(["out", a[i]]);
      i += 1;
    } else {
      found.push(["in", b[j]]);
      j += 1;
    }
  }
  return found;
}

/** @param {[string, string][]} parts @returns {[string, string][]} */
function joined(parts) {
  /** @type {[string, string][]} */
  const runs = [];
  for (const [kind, text] of parts) {
    if (runs.length && runs[runs.length - 1][0] === kind) runs[runs.length - 1][1] += text;
    else runs.push([kind, text]);
  }
  return runs;
}

/** The number of changed words: at each place the larger of words added and removed. @param {[string, string][]} runs @param {string} language */
export function changedWords(runs, language) {
  let total = 0;
  let [out, into] = [0, 0];
  const words = (/** @type {string} */ text) => pieces(text, language, true).filter((piece) => piece.stop).length;
  for (const [kind, text] of [...runs, ["same", "x"]]) {
    if (kind === "out") out += words(text);
    else if (kind === "in") into += words(text);
    else if (text.trim()) {
      total += Math.max(out, into);
      [out, into] = [0, 0];
    }
  }
  return total;
}
