/**
 * All cells into the pixels of an ImageData at once. Every row of cells is written once, as one line of pixels, and
 * that line is copied down: 10⁵ cells take about as long as filling the canvas.
 */

import type { Word } from "./colours";
import type { Geometry } from "./geometry";

/** How long each drawing took is in the browser's performance timeline under this name. */
export const DRAWN = "block map drawn";

/** Paint `colours`, one a block; `order[i]` is the block in cell i, and without it cell i is block i. */
export function paint(
  pixels: Uint32Array,
  width: number,
  geometry: Geometry,
  colours: Uint32Array,
  order: Uint32Array | null = null,
  background: Word = 0,
): void {
  pixels.fill(background);
  const { pitch, gap, columns, rows, count } = geometry;
  const size = pitch - gap;
  const height = Math.floor(pixels.length / width);
  for (let row = 0; row < rows; row += 1) {
    const top = row * pitch;
    if (top >= height) return;
    const line = top * width;
    const first = row * columns;
    const filled = Math.min(columns, count - first);
    for (let column = 0; column < filled; column += 1) {
      const cell = first + column;
      const colour = colours[order === null ? cell : order[cell]!]!;
      const start = line + column * pitch;
      for (let x = 0; x < size; x += 1) pixels[start + x] = colour;
    }
    const end = line + Math.min(width, filled * pitch);
    for (let y = 1; y < size && top + y < height; y += 1) pixels.copyWithin(line + y * width, line, end);
  }
}

/** The colours of the first blocks, and of the others one that tells nothing. */
export function partly(colours: Uint32Array, share: number, rest: Word): Uint32Array {
  if (share >= 1) return colours;
  return colours.slice().fill(rest, Math.round(colours.length * share));
}

/** The blocks from the least value to the greatest; those without one come last, and ties keep their order. */
export function orderByValue(values: ArrayLike<number>): Uint32Array {
  const order = Uint32Array.from({ length: values.length }, (_, index) => index);
  const key = (index: number) => (Number.isNaN(values[index]!) ? Infinity : values[index]!);
  return order.sort((a, b) => {
    const [one, other] = [key(a), key(b)];
    return one === other ? a - b : one < other ? -1 : 1;
  });
}
