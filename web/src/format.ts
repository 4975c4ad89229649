/** Numbers as people read them. What is not known is "–". */

export const NOTHING = "–";
export type Maybe = number | null | undefined;

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const EXACT = new Intl.NumberFormat("en", { maximumSignificantDigits: 9 });

function known(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function count(value: Maybe): string {
  return known(value) ? WHOLE.format(value) : NOTHING;
}

export function counted(value: Maybe, noun: string): string {
  const plural = noun.endsWith("ry") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return known(value) ? `${count(value)} ${value === 1 ? noun : plural}` : `${plural} unknown`;
}

export function number(value: Maybe): string {
  return known(value) ? SHORT.format(value) : NOTHING;
}

export function exact(value: Maybe): string {
  return known(value) ? EXACT.format(value) : NOTHING;
}

/** A share of 1 as a percentage; very small ones are not shown as none. */
export function percent(share: Maybe): string {
  if (!known(share)) return NOTHING;
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(1)} %`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

export function bytes(value: Maybe): string {
  if (!known(value)) return NOTHING;
  let [left, unit] = [value, 0];
  while (Math.abs(left) >= 999.5 && unit < UNITS.length - 1) [left, unit] = [left / 1000, unit + 1];
  return unit === 0 ? `${WHOLE.format(left)} B` : `${left.toFixed(left < 99.95 ? 1 : 0)} ${UNITS[unit]}`;
}

export function seconds(value: Maybe): string {
  if (!known(value)) return NOTHING;
  const size = Math.abs(value);
  if (size < 0.001) return size === 0 ? "0 s" : "< 1 ms";
  if (size < 1) return `${Math.round(value * 1000)} ms`;
  if (size < 100) return `${value.toFixed(size < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(value % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A moment in UTC: "2026-11-18 13:20:34". Takes ISO 8601 text or seconds since 1970. */
export function moment(value: string | Maybe): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  const date = new Date(typeof value === "number" ? value * 1000 : zoned(value));
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().slice(0, 19).replace("T", " ");
}

/** Seconds since 1970, or NaN. */
export function instant(value: string | number): number {
  return typeof value === "number" ? value : Date.parse(zoned(value)) / 1000;
}

function zoned(text: string): string {
  const iso = text.replace(" ", "T");
  return /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(iso) || !iso.includes("T") ? iso : `${iso}Z`;
}

export function ago(value: string | number, now: number): string {
  const passed = now - instant(value);
  if (!Number.isFinite(passed)) return NOTHING;
  if (passed < 45) return "just now";
  if (passed < 5400) return `${Math.max(1, Math.round(passed / 60))} min ago`;
  if (passed < 129600) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} d ago`;
}

/** A text that fits, with what is left out in its middle. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}
