/** Some points of a curve, evenly apart and with both ends, to be read instead of seen. */

export interface Points {
  readonly x: number;
  readonly values: readonly (number | null)[];
}

export function somePoints(
  x: readonly number[],
  lines: readonly (readonly (number | null)[])[],
  most: number,
): readonly Points[] {
  const shown = Math.min(x.length, most);
  return Array.from({ length: shown }, (_, step) => {
    const index = shown === 1 ? 0 : Math.round((step * (x.length - 1)) / (shown - 1));
    return { x: x[index]!, values: lines.map((values) => values[index] ?? null) };
  });
}
