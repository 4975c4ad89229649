import { describe, expect, it } from "vitest";
import { part, sentenceOf } from "../src/api/client";

describe("part", () => {
  it("encodes what is put into a path", () => {
    expect(part`/api/tables/${"a/b?c#d"}/blocks/${7}`).toBe("/api/tables/a%2Fb%3Fc%23d/blocks/7");
    expect(part`/api/tables`).toBe("/api/tables");
  });
});

describe("sentenceOf", () => {
  it("is the sentence of problem JSON", () => {
    expect(sentenceOf('{"title": "Not Found", "status": 404, "detail": "There is no table x."}', 404)).toBe(
      "There is no table x.",
    );
    expect(sentenceOf('{"title": "Not Found"}', 404)).toBe("Not Found");
  });

  it("is one of our own for anything else", () => {
    for (const text of ["", "<html>", '{"detail": []}', "null"])
      expect(sentenceOf(text, 502)).toBe("The server answered with status 502.");
  });
});
