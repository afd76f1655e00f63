// Numbers as people read them; the same everywhere, whatever the browser's language.

const DIGITS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const UNITS = ["", "k", "M", "G", "T", "P", "E"];
const TWO_DIGITS = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** 1,234,567 */
function grouped(number) {
  return DIGITS.format(number);
}

/** 15.2 G: four characters at most, and the unit. Below 10,000 it is the whole number. */
function short(number) {
  const size = Math.abs(number);
  if (size < 10_000) return grouped(number);
  const at = Math.min(UNITS.length - 1, Math.floor(Math.log10(size * 1.0005) / 3));
  const scaled = number / 1000 ** at;
  return `${scaled.toFixed(Math.abs(scaled) < 99.95 ? 1 : 0)} ${UNITS[at]}`;
}

/** The word for so many: in the plural, as it is given, unless that is one. */
function wordFor(number, words) {
  return number === 1 ? words.replace(/s$/, "") : words;
}

/** The number with its word. */
function counted(number, words) {
  return `${grouped(number)} ${wordFor(number, words)}`;
}

/** The share in percent: 12.34 %. What is something is never shown as nothing. */
function percent(part, whole) {
  if (!(whole > 0)) return "";
  const share = (part / whole) * 100;
  return share > 0 && share < 0.005 ? "< 0.01 %" : `${TWO_DIGITS.format(share)} %`;
}

/** 12.34; 1,234 */
function decimal(number) {
  return number < 100 ? TWO_DIGITS.format(number) : grouped(number);
}

/** +1,234 */
function signed(number) {
  return number > 0 ? `+${grouped(number)}` : grouped(number);
}

/** How much `now` is more than `before`: +12.34 %, new, gone */
function relative(now, before) {
  if (now === before) return "0 %";
  if (before === 0) return "new";
  if (now === 0) return "gone";
  const change = ((now - before) / before) * 100;
  if (Math.abs(change) < 0.005) return change > 0 ? "< +0.01 %" : "> -0.01 %";
  if (change >= 10_000) return `+${short(change)} %`;
  return `${change > 0 ? "+" : ""}${TWO_DIGITS.format(change)} %`;
}

/** How wide a column must be for a text of digits and its title. */
function widthFor(text, title) {
  return Math.ceil(Math.max(text.length * 8.2, title.length * 8.9) + 18);
}

/** The largest of some numbers, and at least 0. */
function largestOf(numbers) {
  return numbers.reduce((most, one) => Math.max(most, one), 0);
}
