/**
 * Where each block's cell is, and which cell is under a point: arithmetic only, so that hovering over 10⁵ cells
 * costs as much as hovering over ten. Lengths are device pixels.
 *
 * Cells are squares in rows from left to right. The largest square at which all cells fit is taken; with 500 × 300
 * pixels and 64 blocks that is 46: ten columns, seven rows.
 */

export interface Geometry {
  readonly count: number;
  /** From one cell's edge to the next one's. */
  readonly pitch: number;
  /** What is left free between two cells. */
  readonly gap: number;
  readonly columns: number;
  readonly rows: number;
}

export const LARGEST_CELL = 56;

/** The geometry of `count` cells in a canvas; the pitch is at least one pixel, and cells below the edge are not seen. */
export function geometryOf(count: number, width: number, height: number, largest = LARGEST_CELL): Geometry {
  const room = Math.max(1, Math.floor(Math.sqrt((width * height) / Math.max(1, count))));
  let pitch = Math.min(largest, room + 1);
  while (pitch > 1 && Math.floor(width / pitch) * Math.floor(height / pitch) < count) pitch -= 1;
  const columns = Math.max(1, Math.min(Math.max(1, count), Math.floor(width / pitch)));
  return { count, pitch, gap: gapOf(pitch), columns, rows: Math.ceil(count / columns) };
}

function gapOf(pitch: number): number {
  if (pitch < 4) return 0;
  return pitch < 16 ? 1 : 2;
}

/** The number of the cell at a point, or -1. The gap belongs to the cell on its left. */
export function cellAt(geometry: Geometry, x: number, y: number): number {
  if (x < 0 || y < 0) return -1;
  const column = Math.floor(x / geometry.pitch);
  if (column >= geometry.columns) return -1;
  const cell = Math.floor(y / geometry.pitch) * geometry.columns + column;
  return cell < geometry.count ? cell : -1;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** The square of a cell, without its gap. */
export function boxOf(geometry: Geometry, cell: number): Box {
  return {
    x: (cell % geometry.columns) * geometry.pitch,
    y: Math.floor(cell / geometry.columns) * geometry.pitch,
    size: geometry.pitch - geometry.gap,
  };
}

/** The cell that a key moves to from `cell`; -1 is no cell, and every key then starts at the first. */
export function moveBy(geometry: Geometry, cell: number, key: string): number {
  const last = geometry.count - 1;
  if (last < 0) return -1;
  if (cell < 0) return key === "End" ? last : 0;
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -geometry.columns,
    ArrowDown: geometry.columns,
    PageUp: -geometry.columns * 10,
    PageDown: geometry.columns * 10,
  };
  if (key === "Home") return 0;
  if (key === "End") return last;
  const moved = cell + (steps[key] ?? 0);
  return moved < 0 || moved > last ? cell : moved;
}

export const MOVING_KEYS: ReadonlySet<string> = new Set([
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "ArrowDown",
  "PageUp",
  "PageDown",
  "Home",
  "End",
]);
