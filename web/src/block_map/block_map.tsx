/**
 * The block map: one canvas, one cell a block. Hovering and the keyboard find the block by arithmetic; what is in it is
 * told beside the pointer, and to screen readers when the keyboard moves.
 */

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { dark } from "../state/theme";
import { paletteOf, type Palette } from "./colours";
import { MOVING_KEYS, boxOf, cellAt, geometryOf, moveBy, type Geometry } from "./geometry";
import { DRAWN, paint, partly } from "./paint";

export interface BlockMapProps {
  readonly label: string;
  readonly count: number;
  /** One word a block, for a palette. Another function means other colours. */
  readonly colours: (palette: Palette) => Uint32Array;
  /** `order[i]` is the block in cell i; null is the table's own order. */
  readonly order?: Uint32Array | null;
  /** What is inside a block; its lines are shown one below the other. */
  readonly describe: (block: number) => string;
  readonly selected?: number;
  readonly onSelect?: (block: number) => void;
  /** CSS pixels; what many blocks may take at most. */
  readonly height?: number;
  /** Let the blocks light up one after the other, unless the visitor wants no motion. */
  readonly lightUp?: boolean;
}

interface Drawn {
  readonly image: ImageData;
  readonly geometry: Geometry;
  /** The cell of each block, where that is not its own number. */
  readonly cellOf: Uint32Array | null;
}

export function BlockMap(props: BlockMapProps) {
  const {
    label,
    count,
    colours,
    order = null,
    describe,
    selected = -1,
    onSelect,
    height = 340,
    lightUp,
  } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const marked = useRef(-1);
  const chosen = useRef(selected);
  const lit = useRef<unknown>(null);
  const frame = useRef(0);
  const tip = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState(-1);
  const [said, setSaid] = useState("");
  const help = useId();
  const isDark = dark.value;
  chosen.current = selected;

  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    watcher.observe(canvas.current!.parentElement!);
    return () => watcher.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (width === 0) return;
    const palette = paletteOf(isDark);
    const [extent, whole] = [{ count, width, height, order }, colours(palette)];
    const show = (shown: Uint32Array) => {
      drawn.current = draw(canvas.current!, extent, shown);
      marked.current = -1;
      mark(canvas.current!, drawn.current, chosen.current, true);
    };
    const again = lit.current === colours;
    lit.current = colours;
    if (!lightUp || again || matchMedia("(prefers-reduced-motion: reduce)").matches) return show(whole);
    return inTime((share) => show(partly(whole, share, palette.unknown)));
  }, [count, width, height, order, colours, isDark]);

  useEffect(() => {
    if (drawn.current) mark(canvas.current!, drawn.current, selected, true);
  }, [selected]);

  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  const blockIn = (cell: number) => (cell < 0 ? -1 : order === null ? cell : order[cell]!);
  const at = (event: PointerEvent | MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const scale = canvas.current!.width / box.width;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return { x, y, block: blockIn(cellAt(drawn.current!.geometry, x * scale, y * scale)) };
  };

  const hover = (event: PointerEvent) => {
    if (!drawn.current) return;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const { x, y, block } = at(event);
      if (block !== marked.current) {
        mark(canvas.current!, drawn.current!, selected, true);
        if (block >= 0) mark(canvas.current!, drawn.current!, block, false);
        marked.current = block;
        if (block >= 0) tip.current!.textContent = describe(block);
      }
      showTip(tip.current!, block >= 0, x, y, canvas.current!.clientWidth);
    });
  };

  const leave = () => {
    cancelAnimationFrame(frame.current);
    if (!tip.current) return; // a canvas that has the focus loses it when it is removed
    tip.current.hidden = true;
    marked.current = -1;
    if (drawn.current) mark(canvas.current!, drawn.current, selected, true);
  };

  const key = (event: KeyboardEvent) => {
    if (!drawn.current) return;
    if ((event.key === "Enter" || event.key === " ") && cursor >= 0) {
      event.preventDefault();
      onSelect?.(blockIn(cursor));
      return;
    }
    if (!MOVING_KEYS.has(event.key)) return;
    event.preventDefault();
    const { geometry, cellOf } = drawn.current;
    const from = cursor >= 0 ? cursor : selected < 0 ? -1 : (cellOf?.[selected] ?? selected);
    const cell = moveBy(geometry, from, event.key);
    const block = blockIn(cell);
    setCursor(cell);
    mark(canvas.current!, drawn.current, selected, true);
    if (block < 0) return;
    mark(canvas.current!, drawn.current, block, false);
    setSaid(describe(block));
    const box = boxOf(geometry, cell);
    const scale = canvas.current!.width / canvas.current!.clientWidth;
    tip.current!.textContent = describe(block);
    showTip(tip.current!, true, (box.x + box.size) / scale, box.y / scale, canvas.current!.clientWidth);
  };

  return (
    <div class="block-map">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={label}
        aria-describedby={help}
        onPointerMove={hover}
        onPointerLeave={leave}
        onBlur={leave}
        onKeyDown={key}
        onClick={(event) => {
          if (!drawn.current) return;
          const { block } = at(event);
          if (block < 0) return;
          setCursor(drawn.current.cellOf?.[block] ?? block);
          onSelect?.(block);
        }}
      />
      <div class="tip" ref={tip} hidden aria-hidden="true" />
      <span id={help} class="hidden-text">
        {count} blocks. Arrow keys move from block to block, Enter chooses one.
      </span>
      <div class="hidden-text" aria-live="polite">
        {said}
      </div>
    </div>
  );
}

const LIGHT_UP_MILLISECONDS = 450;

/** Call `step` before every frame with the share of the time that has passed, to the end; returns how to stop it. */
function inTime(step: (share: number) => void): () => void {
  const begun = performance.now();
  let frame = 0;
  const next = (now: number) => {
    const share = Math.min(1, Math.max(0, (now - begun) / LIGHT_UP_MILLISECONDS));
    step(share);
    if (share < 1) frame = requestAnimationFrame(next);
  };
  step(0);
  frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

interface Extent {
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly order: Uint32Array | null;
}

function draw(canvas: HTMLCanvasElement, extent: Extent, colours: Uint32Array): Drawn {
  const { count, order } = extent;
  const begun = performance.now();
  const scale = Math.min(devicePixelRatio || 1, 3);
  const [width, most] = [Math.floor(extent.width * scale), Math.floor(extent.height * scale)];
  const geometry = geometryOf(count, width, most, Math.round(44 * scale));
  const height = Math.max(1, Math.min(most, geometry.rows * geometry.pitch));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  canvas.style.height = `${height / scale}px`;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  paint(new Uint32Array(image.data.buffer), width, geometry, colours, order);
  context.putImageData(image, 0, 0);
  performance.measure(DRAWN, { start: begun });
  return { image, geometry, cellOf: order === null ? null : inverted(order) };
}

function inverted(order: Uint32Array): Uint32Array {
  const cells = new Uint32Array(order.length);
  for (let cell = 0; cell < order.length; cell += 1) cells[order[cell]!] = cell;
  return cells;
}

const MARGIN = 3;
const lastMarks = new WeakMap<HTMLCanvasElement, { x: number; y: number; size: number }[]>();

/** Frame a block; `alone` removes the frames that are there first, by painting what is below them again. */
function mark(
  canvas: HTMLCanvasElement,
  { image, geometry, cellOf }: Drawn,
  block: number,
  alone: boolean,
): void {
  const context = canvas.getContext("2d")!;
  const marks = lastMarks.get(canvas) ?? [];
  if (alone) {
    for (const { x, y, size } of marks)
      context.putImageData(image, 0, 0, x - MARGIN, y - MARGIN, size + 2 * MARGIN, size + 2 * MARGIN);
    marks.length = 0;
  }
  lastMarks.set(canvas, marks);
  if (block < 0 || block >= geometry.count) return;
  const box = boxOf(geometry, cellOf?.[block] ?? block);
  const size = Math.max(box.size, 3);
  context.lineWidth = 2;
  context.strokeStyle = dark.peek() ? "#ffffff" : "#000000";
  context.strokeRect(box.x, box.y, size, size);
  marks.push({ x: box.x, y: box.y, size });
}

function showTip(tip: HTMLElement, shown: boolean, x: number, y: number, width: number): void {
  tip.hidden = !shown;
  const right = x > width / 2;
  tip.style.left = right ? "" : `${x + 14}px`;
  tip.style.right = right ? `${width - x + 14}px` : "";
  tip.style.top = `${y + 12}px`;
}
