import { describe, expect, it } from "vitest";
import {
  ago,
  bytes,
  count,
  counted,
  instant,
  moment,
  number,
  percent,
  seconds,
  shortened,
} from "../src/format";

describe("numbers", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [37_109_431, "37.1 MB"],
    [999_960_000, "1.0 GB"],
    [123_456_789_000, "123 GB"],
    [null, "–"],
  ])("%s bytes are %s", (value, text) => expect(bytes(value)).toBe(text));

  it.each([
    [0, "0.0 %"],
    [0.0004, "< 0.1 %"],
    [0.234, "23.4 %"],
    [1, "100.0 %"],
    [undefined, "–"],
    [NaN, "–"],
  ])("the share %s is %s", (value, text) => expect(percent(value)).toBe(text));

  it.each([
    [0, "0 s"],
    [0.0004, "< 1 ms"],
    [0.27, "270 ms"],
    [1.371, "1.37 s"],
    [32.24, "32.2 s"],
    [171.5, "2 min 52 s"],
    [7380, "2 h 3 min"],
    [200_000, "2 d 7 h"],
    [null, "–"],
  ])("%s seconds are %s", (value, text) => expect(seconds(value)).toBe(text));

  it("are counted with their noun", () => {
    expect(counted(1, "file")).toBe("1 file");
    expect(counted(2_000_000, "row")).toBe("2,000,000 rows");
    expect(counted(null, "row")).toBe("rows unknown");
    expect(counted(3, "query")).toBe("3 queries");
    expect(count(null)).toBe("–");
    expect(number(0.012345)).toBe("0.0123");
  });
});

describe("moments", () => {
  it("are in UTC, whatever they are given as", () => {
    expect(moment("2026-11-18T13:20:34+00:00")).toBe("2026-11-18 13:20:34");
    expect(moment("2026-11-18 13:20:34")).toBe("2026-11-18 13:20:34");
    expect(moment(0)).toBe("1970-01-01 00:00:00");
    expect(moment("")).toBe("–");
    expect(moment("yesterday")).toBe("yesterday");
    expect(instant("1970-01-01T00:01:00Z")).toBe(60);
  });

  it("are told from now", () => {
    expect(ago(100, 110)).toBe("just now");
    expect(ago(0, 600)).toBe("10 min ago");
    expect(ago(0, 7200)).toBe("2 h ago");
    expect(ago(0, 864_000)).toBe("10 d ago");
    expect(ago("never", 0)).toBe("–");
  });
});

describe("shortened", () => {
  it("keeps both ends", () => {
    expect(shortened("short", 10)).toBe("short");
    expect(shortened("a very long text that ends", 12)).toBe("a very l…nds");
  });
});
