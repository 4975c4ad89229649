/**
 * Colours of cells, as the words that an ImageData holds: 0xAABBGGRR on a machine that stores the low byte first, as
 * every browser does.
 *
 * Sequential values use cividis (Nuñez, Anderton and Renslow 2018): dark blue to yellow, of even lightness steps, and
 * nearly the same to people with and without a colour deficiency. Classes differ in lightness as well as in hue.
 */

export type Word = number;

const CIVIDIS: readonly string[] = [
  "#00224e",
  "#123570",
  "#3b496c",
  "#575d6d",
  "#707173",
  "#8a8678",
  "#a59c74",
  "#c3b369",
  "#e1cc55",
  "#fee838",
];

/** A word from "#rrggbb". */
export function word(hex: string): Word {
  const value = Number.parseInt(hex.slice(1), 16);
  const [red, green, blue] = [(value >> 16) & 255, (value >> 8) & 255, value & 255];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A word as CSS writes it. */
export function css(colour: Word): string {
  const part = (shift: number) => ((colour >>> shift) & 255).toString(16).padStart(2, "0");
  return `#${part(0)}${part(8)}${part(16)}`;
}

function mixed(from: Word, to: Word, share: number): Word {
  const part = (shift: number) => {
    const [low, high] = [(from >>> shift) & 255, (to >>> shift) & 255];
    return Math.round(low + (high - low) * share) << shift;
  };
  return ((255 << 24) | part(16) | part(8) | part(0)) >>> 0;
}

const STEPS = 256;

/** 256 words from the low end of the scale to its high end. */
export const SCALE: Uint32Array = (() => {
  const stops = CIVIDIS.map(word);
  const scale = new Uint32Array(STEPS);
  for (let step = 0; step < STEPS; step += 1) {
    const at = (step / (STEPS - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(at), stops.length - 2);
    scale[step] = mixed(stops[below]!, stops[below + 1]!, at - below);
  }
  return scale;
})();

export interface Palette {
  /** Nothing is known about the block. */
  readonly unknown: Word;
  readonly no: Word;
  readonly yes: Word;
  readonly read: Word;
  readonly skipped: Word;
  readonly pruned: Word;
  /** Its rows are read elsewhere. */
  readonly copied: Word;
  readonly background: Word;
}

const LIGHT: Palette = {
  unknown: word("#d3d9e0"),
  no: word("#a9bccd"),
  yes: word("#b45309"),
  read: word("#c2570c"),
  skipped: word("#a9c3da"),
  pruned: word("#dbe3ea"),
  copied: word("#6750a4"),
  background: 0,
};

const DARK: Palette = {
  unknown: word("#39424e"),
  no: word("#2c4a63"),
  yes: word("#f2b84b"),
  read: word("#f6b13c"),
  skipped: word("#2d5472"),
  pruned: word("#27333f"),
  copied: word("#9a86e0"),
  background: 0,
};

export function paletteOf(dark: boolean): Palette {
  return dark ? DARK : LIGHT;
}

/** The least and the greatest of the finite values; null if there are none. */
export function extentOf(values: ArrayLike<number>): readonly [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return low <= high ? [low, high] : null;
}

/** One word a block for values on a scale; NaN is a block of which nothing is known. */
export function scaleColours(values: ArrayLike<number>, palette: Palette): Uint32Array {
  const colours = new Uint32Array(values.length);
  const [low, high] = extentOf(values) ?? [0, 0];
  const factor = high > low ? (STEPS - 1) / (high - low) : 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (Number.isNaN(value)) colours[index] = palette.unknown;
    else {
      const step = factor === 0 ? STEPS / 2 : (value - low) * factor;
      colours[index] = SCALE[Math.max(0, Math.min(STEPS - 1, Math.round(step)))]!;
    }
  }
  return colours;
}

/** One word a block for classes; `classes[i]` is an index into `words`, and others are unknown. */
export function classColours(
  classes: ArrayLike<number>,
  words: readonly Word[],
  palette: Palette,
): Uint32Array {
  const colours = new Uint32Array(classes.length);
  for (let index = 0; index < classes.length; index += 1)
    colours[index] = words[classes[index]!] ?? palette.unknown;
  return colours;
}

/** The colours of some blocks; the others are left out of the map. Null is all of them. */
export function only(colours: Uint32Array, blocks: readonly number[] | null): Uint32Array {
  if (blocks === null) return colours;
  const shown = new Uint32Array(colours.length);
  for (const block of blocks) shown[block] = colours[block] ?? 0;
  return shown;
}

/** The contrast of two colours as WCAG 2 defines it, 1 to 21. */
export function contrast(one: Word, other: Word): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

export function luminance(colour: Word): number {
  const part = (shift: number) => {
    const share = ((colour >>> shift) & 255) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(0) + 0.7152 * part(8) + 0.0722 * part(16);
}
