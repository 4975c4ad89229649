import { describe, expect, it } from "vitest";
import { argumentsOf, sentArguments, type ActionInfo } from "../src/action_arguments";

const OPTIMIZE: ActionInfo = {
  name: "optimize",
  title: "Rewrite the table",
  table: true,
  exclusive: true,
  workload: "optional",
  arguments: {
    properties: {
      layout: { type: "string", default: "auto" },
      block_rows: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
      force: { type: "boolean", default: false },
      feature: { type: "array", default: [] },
      replica: { type: "string" },
    },
    required: ["replica"],
  },
};

describe("argumentsOf", () => {
  it("tells kinds, defaults and what is required", () => {
    expect(
      argumentsOf(OPTIMIZE).map((each) => [each.label, each.kind, each.otherwise, each.required]),
    ).toEqual([
      ["replica", "text", "", true],
      ["layout", "text", "auto", false],
      ["block rows", "number", "", false],
      ["force", "flag", "", false],
      ["feature", "list", "", false],
    ]);
  });

  it("is empty for an action without arguments", () => {
    expect(argumentsOf({ ...OPTIMIZE, arguments: {} })).toEqual([]);
  });
});

describe("sentArguments", () => {
  it("sends what was typed, each in its type, and leaves out what was not", () => {
    const typed = {
      layout: " qdtree ",
      block_rows: "500",
      force: "true",
      feature: "a > 1\n\n b ",
      replica: " ",
    };
    expect(sentArguments(argumentsOf(OPTIMIZE), typed)).toEqual({
      layout: "qdtree",
      block_rows: 500,
      force: true,
      feature: ["a > 1", "b"],
    });
  });

  it("sends what is no number as it is, so that the server says what is wrong", () => {
    expect(sentArguments(argumentsOf(OPTIMIZE), { block_rows: "many" })).toEqual({ block_rows: "many" });
  });
});
