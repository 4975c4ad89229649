import { describe, expect, it } from "vitest";
import { remedyOf, shellWords } from "../src/remedy";
import { pieces } from "../src/sql";

describe("pieces", () => {
  it("tells keywords, texts, numbers and comments", () => {
    const found = pieces(
      "SELECT count(*) FROM orders WHERE city = 'Pécs' AND price > 4.5e2 OR price < 400.00BD -- all",
    );
    expect(found.filter((piece) => piece.kind !== "plain").map((piece) => [piece.kind, piece.text])).toEqual([
      ["keyword", "SELECT"],
      ["keyword", "FROM"],
      ["keyword", "WHERE"],
      ["text", "'Pécs'"],
      ["keyword", "AND"],
      ["number", "4.5e2"],
      ["keyword", "OR"],
      ["number", "400.00BD"],
      ["comment", "-- all"],
    ]);
  });

  it.each(["", "'never closed", "/* never closed", "`select` = 'it''s' AND \"a\\\"b\"", "a1 <> 1a ☃ \n\t;"])(
    "loses nothing of %j",
    (sql) => {
      expect(
        pieces(sql)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(sql);
    },
  );

  it("takes a quoted name as it is", () => {
    expect(pieces("`select`")).toEqual([{ kind: "plain", text: "`select`" }]);
  });
});

describe("remedyOf", () => {
  it("is a job that indexes an expression or a feature", () => {
    expect(remedyOf("skipstone index /data/t --expression id")).toEqual({
      action: "index",
      arguments: { expression: ["id"] },
    });
    expect(remedyOf(`skipstone index '/da ta/t' --feature "city LIKE 'x%'"`)).toEqual({
      action: "index",
      arguments: { feature: ["city LIKE 'x%'"] },
    });
    expect(remedyOf(`skipstone index t --expression 'a = '"'"'$b'"'"''`)?.arguments.expression).toEqual([
      "a = '$b'",
    ]);
  });

  it("is nothing for what the page cannot do", () => {
    for (const command of [
      "",
      "skipstone optimize t --queries FILE, with this query among those of FILE",
      `skipstone index t --feature "never closed`,
    ])
      expect(remedyOf(command)).toBeNull();
    expect(shellWords("a  b ''")).toEqual(["a", "b", ""]);
  });
});
