import { describe, expect, it } from "vitest";
import { boxOf, cellAt, geometryOf, moveBy } from "../src/block_map/geometry";

describe("geometryOf", () => {
  it.each([
    [1, 800, 400],
    [7, 800, 400],
    [64, 500, 300],
    [10_000, 900, 500],
    [100_000, 900, 560],
    [100_000, 400, 400],
  ])("fits %i cells into %i × %i", (count, width, height) => {
    const geometry = geometryOf(count, width, height);
    expect(geometry.columns * geometry.rows).toBeGreaterThanOrEqual(count);
    expect(geometry.columns * geometry.pitch).toBeLessThanOrEqual(width);
    expect(geometry.rows * geometry.pitch).toBeLessThanOrEqual(height);
  });

  it("takes the largest pitch that fits", () => {
    const geometry = geometryOf(1000, 600, 300);
    const larger = geometry.pitch + 1;
    expect(Math.floor(600 / larger) * Math.floor(300 / larger)).toBeLessThan(1000);
  });

  it("keeps a few cells from filling the page", () => {
    expect(geometryOf(2, 900, 500).pitch).toBe(56);
  });

  it("has no rows without cells", () => {
    expect(geometryOf(0, 900, 500).rows).toBe(0);
  });

  it("does not end on more cells than pixels", () => {
    expect(geometryOf(1000, 10, 10).pitch).toBe(1);
  });
});

describe("cellAt", () => {
  const geometry = geometryOf(1003, 640, 360);

  it("finds every cell again by its own corners", () => {
    for (let cell = 0; cell < 1003; cell += 1) {
      const box = boxOf(geometry, cell);
      expect(cellAt(geometry, box.x, box.y)).toBe(cell);
      expect(cellAt(geometry, box.x + box.size - 1, box.y + box.size - 1)).toBe(cell);
    }
  });

  it("finds nothing outside", () => {
    const end = boxOf(geometry, 1002);
    expect(cellAt(geometry, -1, 5)).toBe(-1);
    expect(cellAt(geometry, 5, -1)).toBe(-1);
    expect(cellAt(geometry, geometry.columns * geometry.pitch, 0)).toBe(-1);
    expect(cellAt(geometry, end.x + geometry.pitch, end.y)).toBe(-1);
    expect(cellAt(geometry, 0, 10_000)).toBe(-1);
  });
});

describe("moveBy", () => {
  const geometry = geometryOf(25, 50, 50); // five columns

  it("moves to the neighbours", () => {
    expect(moveBy(geometry, 12, "ArrowLeft")).toBe(11);
    expect(moveBy(geometry, 12, "ArrowRight")).toBe(13);
    expect(moveBy(geometry, 12, "ArrowUp")).toBe(12 - geometry.columns);
    expect(moveBy(geometry, 12, "ArrowDown")).toBe(12 + geometry.columns);
  });

  it("stays inside", () => {
    expect(moveBy(geometry, 0, "ArrowLeft")).toBe(0);
    expect(moveBy(geometry, 24, "ArrowRight")).toBe(24);
    expect(moveBy(geometry, 0, "ArrowUp")).toBe(0);
    expect(moveBy(geometry, 3, "Home")).toBe(0);
    expect(moveBy(geometry, 3, "End")).toBe(24);
  });

  it("starts at the first cell", () => {
    expect(moveBy(geometry, -1, "ArrowDown")).toBe(0);
    expect(moveBy(geometryOf(0, 50, 50), -1, "ArrowDown")).toBe(-1);
  });
});
