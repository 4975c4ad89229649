import { describe, expect, it } from "vitest";
import {
  SCALE,
  classColours,
  contrast,
  css,
  extentOf,
  luminance,
  only,
  paletteOf,
  scaleColours,
  word,
} from "../src/block_map/colours";

const DARK_GROUND = word("#12171d");
const LIGHT_GROUND = word("#ffffff");

/** What a person without red (protanopia) or green (deuteranopia) cones sees; Viénot, Brettel and Mollon 1999. */
function seenWithout(cones: "red" | "green", colour: number): readonly number[] {
  const linear = [0, 8, 16].map((shift) => (((colour >>> shift) & 255) / 255) ** 2.2);
  const [red, green, blue] = linear as [number, number, number];
  const both = cones === "red" ? 0.11238 * red + 0.88762 * green : 0.29275 * red + 0.70725 * green;
  const rest = cones === "red" ? 0.00401 * (red - green) + blue : -0.02234 * (red - green) + blue;
  return [both, both, rest];
}

function distance(one: readonly number[], other: readonly number[]): number {
  return Math.hypot(...one.map((value, index) => value - other[index]!));
}

describe("words", () => {
  it("are those of an ImageData, and CSS's again", () => {
    expect(word("#112233")).toBe(0xff332211);
    expect(css(word("#0a9fe3"))).toBe("#0a9fe3");
  });
});

describe("the scale", () => {
  it("gets lighter from step to step", () => {
    for (let step = 1; step < SCALE.length; step += 1)
      expect(luminance(SCALE[step]!)).toBeGreaterThanOrEqual(luminance(SCALE[step - 1]!) - 1e-3);
  });

  it("has its ends at the least and the greatest value", () => {
    const colours = scaleColours([5, 10, 7.5, NaN], paletteOf(false));
    expect(colours[0]).toBe(SCALE[0]);
    expect(colours[1]).toBe(SCALE[255]);
    expect(colours[3]).toBe(paletteOf(false).unknown);
  });

  it("shows equal values in one colour, and no values as unknown", () => {
    const equal = scaleColours([3, 3, 3], paletteOf(true));
    expect(new Set(equal).size).toBe(1);
    expect([...scaleColours([NaN, NaN], paletteOf(true))]).toEqual(Array(2).fill(paletteOf(true).unknown));
  });

  it("leaves infinite values out of the extent and puts them at its ends", () => {
    expect(extentOf([1, Infinity, -Infinity, NaN, 4])).toEqual([1, 4]);
    expect(extentOf([NaN])).toBeNull();
    const colours = scaleColours([1, Infinity, -Infinity, 4], paletteOf(true));
    expect(colours[1]).toBe(SCALE[255]);
    expect(colours[2]).toBe(SCALE[0]);
  });
});

describe.each([
  ["dark", paletteOf(true), DARK_GROUND],
  ["light", paletteOf(false), LIGHT_GROUND],
])("the %s palette", (_, palette, ground) => {
  it("tells what is read from what is skipped by lightness too", () => {
    expect(contrast(palette.read, palette.skipped)).toBeGreaterThan(2);
    expect(contrast(palette.yes, palette.no)).toBeGreaterThan(2);
  });

  it("sets what matters off from the ground", () => {
    for (const colour of [palette.read, palette.yes, palette.copied])
      expect(contrast(colour, ground)).toBeGreaterThan(3);
  });

  it.each(["red", "green"] as const)("is told apart without %s cones", (cones) => {
    const see = (colour: number) => seenWithout(cones, colour);
    expect(distance(see(palette.read), see(palette.skipped))).toBeGreaterThan(0.15);
    expect(distance(see(palette.yes), see(palette.no))).toBeGreaterThan(0.15);
    for (const other of [palette.read, palette.skipped, palette.pruned])
      expect(distance(see(palette.copied), see(other))).toBeGreaterThan(0.15);
  });
});

describe("classColours", () => {
  it("gives each class its colour and others the one of the unknown", () => {
    const palette = paletteOf(true);
    expect([...classColours([0, 1, -1, 9], [palette.no, palette.yes], palette)]).toEqual([
      palette.no,
      palette.yes,
      palette.unknown,
      palette.unknown,
    ]);
  });
});

it("leaves the blocks of other branches out of the map", () => {
  const colours = Uint32Array.of(7, 8, 9);
  expect([...only(colours, [2, 0])]).toEqual([7, 0, 9]);
  expect([...only(colours, [])]).toEqual([0, 0, 0]);
  expect(only(colours, null)).toBe(colours);
});
