import { describe, expect, it } from "vitest";
import { ROW, arcDiagram, numbered, strongest } from "../src/charts/arcs";
import { somePoints } from "../src/charts/points";
import { sortedBy } from "../src/parts/data_table";

describe("arcDiagram", () => {
  const edges = [
    { a: 0, b: 2, queries: 10 },
    { a: 1, b: 2, queries: 5 },
  ];

  it("has a row for each node and an arc for each edge, the strongest last and thickest", () => {
    const diagram = arcDiagram(3, edges, 100, 50);
    expect(diagram.height).toBe(3 * ROW);
    expect(diagram.arcs.map((arc) => arc.queries)).toEqual([5, 10]);
    expect(diagram.arcs[1]!.width).toBeGreaterThan(diagram.arcs[0]!.width);
    expect(diagram.arcs[1]!.path).toBe(`M100 12C165 12 165 60 100 60`);
  });

  it("leaves out edges to nodes that there are not", () => {
    expect(arcDiagram(2, [...edges, { a: 1, b: 1, queries: 3 }], 100, 50).arcs).toEqual([]);
  });
});

describe("strongest", () => {
  it("keeps the nodes with the most weight and renumbers the edges between them", () => {
    const edges = [
      { a: 0, b: 3, queries: 9 },
      { a: 1, b: 2, queries: 1 },
      { a: 3, b: 2, queries: 4 },
    ];
    expect(strongest(["a", "b", "c", "d"], edges, 2)).toEqual({
      nodes: ["d", "a"],
      edges: [{ a: 1, b: 0, queries: 9 }],
    });
  });
});

describe("numbered", () => {
  it("gives the nodes of edges their numbers", () => {
    const graph = { nodes: ["price", "city"], edges: [{ a: "city", b: "price", queries: 3 }] };
    expect(numbered(graph)).toEqual({ nodes: graph.nodes, edges: [{ a: 1, b: 0, queries: 3 }] });
    expect(numbered(undefined)).toEqual({ nodes: [], edges: [] });
  });
});

describe("somePoints", () => {
  it("has both ends and points evenly apart", () => {
    const x = Array.from({ length: 101 }, (_, index) => index);
    const found = somePoints(x, [x.map((each) => each * 2)], 5);
    expect(found.map((point) => point.x)).toEqual([0, 25, 50, 75, 100]);
    expect(found[1]!.values).toEqual([50]);
  });

  it("has no more points than there are", () => {
    expect(somePoints([1, 2], [[3]], 10)).toEqual([
      { x: 1, values: [3] },
      { x: 2, values: [null] },
    ]);
    expect(somePoints([7], [[8]], 3)).toEqual([{ x: 7, values: [8] }]);
    expect(somePoints([], [], 3)).toEqual([]);
  });
});

describe("sortedBy", () => {
  it("sorts up and down, with the unknown last", () => {
    const rows = [3, null, 1, 2];
    expect(sortedBy(rows, (row) => row, false)).toEqual([1, 2, 3, null]);
    expect(sortedBy(rows, (row) => row, true)).toEqual([3, 2, 1, null]);
    expect(sortedBy(rows, undefined, true)).toBe(rows);
  });
});
