import { describe, expect, it } from "vitest";
import type { Blocks, Scan } from "../src/api/types";
import { colouringOf, describeBlock } from "../src/block_map/colouring";
import { paletteOf } from "../src/block_map/colours";
import { reasonCounts, stateColours, stateSwatches, whyOf } from "../src/block_map/scan_blocks";

const palette = paletteOf(false);

const BLOCKS: Blocks = {
  table: "orders",
  version: 3,
  blocks: 3,
  rows: [100, 200, -1],
  bytes: [1000, 2000, 3000],
  indexed: [1, 1, 0],
  layout: [0, 0, -1],
  layouts: ["qd1"],
  reads: { queries: 10, times: [0, 7, 10] },
  column: {
    sql: "price",
    type: "int",
    low: ["5", "1", null],
    high: ["9", "8", null],
    low_at: [1, 0, null],
    high_at: [1, 0, null],
    nulls: [0, 0.25, null],
  },
  feature: { index: 0, sql: "express", bit: [1, 0, -1] },
};

describe("colouringOf", () => {
  it("has the texts of the least and the greatest value at the ends of its legend", () => {
    const colouring = colouringOf(BLOCKS, "low")!;
    expect(colouring.legend(palette)).toEqual({ kind: "ramp", low: "1", high: "5", unknown: true });
    expect([...colouring.values]).toEqual([1, 0, NaN]);
    expect(colouring.told(0)).toBe("5");
    expect(colouring.told(2)).toBe("unknown");
  });

  it("shows sizes, rows and reads as numbers", () => {
    expect(colouringOf(BLOCKS, "bytes")!.legend(palette)).toMatchObject({ low: "1.0 kB", high: "3.0 kB" });
    expect(colouringOf(BLOCKS, "rows")!.told(2)).toBe("unknown");
    expect(colouringOf(BLOCKS, "reads")!.told(1)).toBe("7 of 10 queries");
    expect(colouringOf(BLOCKS, "nulls")!.told(1)).toBe("25.0 %");
    expect(colouringOf(BLOCKS, "layout")!.told(0)).toBe("qd1");
    expect(colouringOf(BLOCKS, "layout")!.told(2)).toBe("no layout");
  });

  it("shows bits as classes, the unknown too", () => {
    const colouring = colouringOf(BLOCKS, "feature")!;
    expect([...colouring.colours(palette)]).toEqual([palette.yes, palette.no, palette.unknown]);
    expect(colouring.told(1)).toBe("no row satisfies it");
  });

  it("is nothing where the answer does not have what it needs", () => {
    const { column: _, feature: __, ...bare } = BLOCKS;
    expect(colouringOf({ ...bare, reads: null }, "reads")).toBeNull();
    expect(colouringOf(bare, "low")).toBeNull();
    expect(colouringOf(bare, "feature")).toBeNull();
  });

  it("tells what is inside a block", () => {
    expect(describeBlock(BLOCKS, 1)).toBe(
      "Block 1: 200 rows, 2.0 kB\nprice: 1 to 8\nNULL in 25.0 %\nexpress: no row satisfies it\nRead by 7 of 10 queries",
    );
    expect(describeBlock(BLOCKS, 2)).toContain("No statistics: it is always read.");
  });
});

const SCAN = {
  blocks: { state: [0, 1, 1, 2, 3], reason: [1, 0, 0, -1, -1] },
  reasons: [
    { code: "MIN_MAX", sentence: "min/max of price cannot satisfy price > 400" },
    { code: "VALUE_SET", sentence: "city has the value 'Oslo'" },
  ],
} as unknown as Scan;

describe("a scan", () => {
  it("says why each block was read or skipped", () => {
    expect(whyOf(SCAN, 1)).toBe("Block 1: skipped\nmin/max of price cannot satisfy price > 400 [MIN_MAX]");
    expect(whyOf(SCAN, 3)).toBe("Block 3: left out by Spark");
  });

  it("counts the blocks of each reason, most first", () => {
    expect(reasonCounts(SCAN).map((each) => [each.code, each.blocks, each.state])).toEqual([
      ["MIN_MAX", 2, "skipped"],
      ["VALUE_SET", 1, "read"],
    ]);
  });

  it("colours by state, and only the blocks of a chosen reason", () => {
    expect([...stateColours(SCAN, null, palette)].slice(0, 2)).toEqual([palette.read, palette.skipped]);
    expect([...stateColours(SCAN, 0, palette)]).toEqual([0, palette.skipped, palette.skipped, 0, 0]);
    expect(stateSwatches(SCAN, palette).map((each) => each.text)).toEqual([
      "read (1)",
      "skipped (2)",
      "left out by Spark (1)",
      "read without statistics (1)",
    ]);
  });
});
