import { describe, expect, it } from "vitest";
import { boxOf, geometryOf } from "../src/block_map/geometry";
import { orderByValue, paint, partly } from "../src/block_map/paint";

function painted(count: number, width: number, height: number, order: Uint32Array | null = null) {
  const pixels = new Uint32Array(width * height);
  const geometry = geometryOf(count, width, height);
  const colours = Uint32Array.from({ length: count }, (_, block) => block + 1);
  paint(pixels, width, geometry, colours, order);
  return { pixels, geometry };
}

describe("paint", () => {
  it.each([
    [1, 60, 60],
    [17, 100, 50],
    [1000, 200, 120],
    [3000, 90, 60],
  ])("fills exactly the squares of %i cells in %i × %i", (count, width, height) => {
    const { pixels, geometry } = painted(count, width, height);
    const expected = new Uint32Array(width * height);
    for (let cell = 0; cell < count; cell += 1) {
      const box = boxOf(geometry, cell);
      for (let y = box.y; y < box.y + box.size; y += 1)
        for (let x = box.x; x < box.x + box.size; x += 1) expected[y * width + x] = cell + 1;
    }
    expect(pixels).toEqual(expected);
  });

  it("paints the block that the order puts into a cell", () => {
    const { pixels } = painted(3, 60, 60, Uint32Array.of(2, 0, 1));
    expect(pixels[0]).toBe(3);
  });

  it("stops at the lower edge", () => {
    const pixels = new Uint32Array(10 * 10);
    paint(pixels, 10, { count: 9, pitch: 4, gap: 1, columns: 2, rows: 5 }, new Uint32Array(9).fill(7));
    expect(pixels[9 * 10]).toBe(7);
  });
});

describe("partly", () => {
  it("shows the first blocks and leaves the others dark", () => {
    const colours = Uint32Array.of(5, 6, 7, 8);
    expect([...partly(colours, 0.5, 1)]).toEqual([5, 6, 1, 1]);
    expect([...partly(colours, 0, 1)]).toEqual([1, 1, 1, 1]);
    expect(partly(colours, 1, 1)).toBe(colours);
    expect([...colours]).toEqual([5, 6, 7, 8]);
  });
});

describe("orderByValue", () => {
  it("sorts by value, keeps ties in their order and puts the unknown last", () => {
    expect([...orderByValue([3, NaN, 1, 3, -Infinity])]).toEqual([4, 2, 0, 3, 1]);
  });
});
