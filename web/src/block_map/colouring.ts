/** What a block map is coloured by: values or classes, the legend for them, and what there is to say of each block. */

import type { Blocks } from "../api/types";
import { bytes, count, counted, number, percent } from "../format";
import { classColours, css, extentOf, scaleColours, type Palette } from "./colours";

export const ASPECTS = ["bytes", "rows", "reads", "low", "high", "nulls", "feature", "layout"] as const;
export type Aspect = (typeof ASPECTS)[number];

export const ASPECT_TITLES: Readonly<Record<Aspect, string>> = {
  bytes: "size",
  rows: "rows",
  reads: "how often it is read",
  low: "minimum of a column",
  high: "maximum of a column",
  nulls: "share of NULL in a column",
  feature: "bit of a feature",
  layout: "layout that made it",
};

export interface Swatch {
  readonly colour: string;
  readonly text: string;
}

export type Legend =
  | { readonly kind: "ramp"; readonly low: string; readonly high: string; readonly unknown: boolean }
  | { readonly kind: "classes"; readonly swatches: readonly Swatch[] };

export interface Colouring {
  /** One a block, NaN where it is unknown; blocks are ordered by it on request. */
  readonly values: Float64Array;
  readonly colours: (palette: Palette) => Uint32Array;
  readonly legend: (palette: Palette) => Legend;
  /** The block's own value in words. */
  readonly told: (block: number) => string;
}

export function needsColumn(aspect: Aspect): boolean {
  return aspect === "low" || aspect === "high" || aspect === "nulls";
}

/** The colouring by one aspect; null where the answer of the server does not have what it needs. */
export function colouringOf(blocks: Blocks, aspect: Aspect): Colouring | null {
  const { column, feature, reads } = blocks;
  switch (aspect) {
    case "bytes":
      return ramp(numbers(blocks.bytes), bytes);
    case "rows":
      return ramp(numbers(blocks.rows, -1), (value) => counted(value, "row"));
    case "reads":
      return reads === null
        ? null
        : ramp(numbers(reads.times), (value) => `${number(value)} of ${number(reads.queries)} queries`);
    case "low":
    case "high": {
      if (column === undefined) return null;
      const texts = column[aspect];
      const values = numbers(aspect === "low" ? column.low_at : column.high_at);
      return {
        ...ramp(values, String),
        legend: textLegend(values, texts),
        told: (block) => texts[block] ?? "unknown",
      };
    }
    case "nulls":
      return column === undefined ? null : ramp(numbers(column.nulls), percent);
    case "feature":
      return feature === undefined ? null : bits(feature.bit);
    case "layout":
      return layouts(blocks);
  }
}

function numbers(values: readonly (number | null)[], unknown?: number): Float64Array {
  return Float64Array.from(values, (value) => (value === null || value === unknown ? NaN : value));
}

function ramp(values: Float64Array, text: (value: number) => string): Colouring {
  const [low, high] = extentOf(values) ?? [NaN, NaN];
  const unknown = values.some((value) => Number.isNaN(value));
  return {
    values,
    colours: (palette) => scaleColours(values, palette),
    legend: () => ({ kind: "ramp", low: text(low), high: text(high), unknown }),
    told: (block) => (Number.isNaN(values[block]!) ? "unknown" : text(values[block]!)),
  };
}

/** The ends of the ramp are the texts of the blocks at its ends. */
function textLegend(values: Float64Array, texts: readonly (string | null)[]): () => Legend {
  const extent = extentOf(values);
  const at = (value: number) => texts[values.indexOf(value)] ?? "unknown";
  const unknown = values.some((value) => Number.isNaN(value));
  return () => ({
    kind: "ramp",
    low: extent === null ? "unknown" : at(extent[0]),
    high: extent === null ? "unknown" : at(extent[1]),
    unknown,
  });
}

function bits(bit: readonly number[]): Colouring {
  const values = numbers(bit, -1);
  const times = (wanted: number) => count(bit.filter((each) => each === wanted).length);
  return {
    values,
    colours: (palette) => classColours(bit, [palette.no, palette.yes], palette),
    legend: (palette) => ({
      kind: "classes",
      swatches: [
        { colour: css(palette.yes), text: `some row satisfies it (${times(1)})` },
        { colour: css(palette.no), text: `no row does (${times(0)})` },
        { colour: css(palette.unknown), text: `unknown (${times(-1)})` },
      ],
    }),
    told: (block) => bitText(bit[block]),
  };
}

function layouts(blocks: Blocks): Colouring {
  const values = numbers(blocks.layout, -1);
  const name = (index: number) => blocks.layouts[index] ?? "no layout";
  const scale = ramp(values, (value) => name(value));
  return { ...scale, told: (block) => name(blocks.layout[block] ?? -1) };
}

function bitText(bit: number | undefined): string {
  return bit === 1 ? "some row satisfies it" : bit === 0 ? "no row satisfies it" : "unknown";
}

/** What hovering tells: number, size and rows, how often it is read, and the value that is shown. */
export function describeBlock(blocks: Blocks, block: number): string {
  const rows = blocks.rows[block] ?? -1;
  const lines = [
    `Block ${count(block)}: ${rows < 0 ? "rows unknown" : counted(rows, "row")}, ${bytes(blocks.bytes[block])}`,
  ];
  if (!blocks.indexed[block]) lines.push("No statistics: it is always read.");
  const { column, feature, reads } = blocks;
  if (column !== undefined && column.low[block] !== null && column.low[block] !== undefined)
    lines.push(`${column.sql}: ${column.low[block]} to ${column.high[block]}`);
  if (column?.nulls[block]) lines.push(`NULL in ${percent(column.nulls[block])}`);
  if (feature !== undefined) lines.push(`${feature.sql}: ${bitText(feature.bit[block])}`);
  if (reads !== null) lines.push(`Read by ${number(reads.times[block])} of ${number(reads.queries)} queries`);
  return lines.join("\n");
}
