// Numbers as people read them; the same everywhere, whatever the browser's language.

const DIGITS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const TWO_DIGITS = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** 1,234,567 */
function grouped(number) {
  return DIGITS.format(number);
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
  return `${change > 0 ? "+" : ""}${TWO_DIGITS.format(change)} %`;
}

/** How wide a column must be for the number and its title. */
function widthFor(number, title) {
  return Math.ceil(Math.max(grouped(number).length * 8.2, title.length * 7.6) + 18);
}
