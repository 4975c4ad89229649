/**
 * The correlation graph as an arc diagram: one line of text a node, an arc for each two that queries filter on
 * together. Lines never collide, and the thickness of an arc says in how many queries.
 */

export interface Edge {
  readonly a: number;
  readonly b: number;
  readonly queries: number;
}

export interface Arc extends Edge {
  readonly path: string;
  readonly width: number;
}

export interface ArcDiagram {
  readonly height: number;
  readonly rows: readonly number[];
  readonly arcs: readonly Arc[];
}

export const ROW = 24;
const THINNEST = 1;
const THICKEST = 7;

/** The diagram of `count` nodes, arcs to the right of `left`, at most `reach` wide. Weak arcs come first. */
export function arcDiagram(count: number, edges: readonly Edge[], left: number, reach: number): ArcDiagram {
  const rows = Array.from({ length: count }, (_, index) => ROW / 2 + index * ROW);
  const most = Math.max(1, ...edges.map((edge) => edge.queries));
  const farthest = Math.max(1, ...edges.map((edge) => Math.abs(edge.a - edge.b)));
  const usable = edges.filter(
    (edge) => edge.a !== edge.b && rows[edge.a] !== undefined && rows[edge.b] !== undefined,
  );
  const arcs = [...usable]
    .sort((one, other) => one.queries - other.queries)
    .map((edge) => {
      const [top, bottom] = [rows[Math.min(edge.a, edge.b)]!, rows[Math.max(edge.a, edge.b)]!];
      const out = (reach * Math.abs(edge.a - edge.b)) / farthest;
      return {
        ...edge,
        path: `M${left} ${top}C${round(left + out * 1.3)} ${top} ${round(left + out * 1.3)} ${bottom} ${left} ${bottom}`,
        width: round(THINNEST + (THICKEST - THINNEST) * (edge.queries / most)),
      };
    });
  return { height: count * ROW, rows, arcs };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

interface NamedGraph {
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly a: string; readonly b: string; readonly queries: number }[];
}

/** A graph whose edges name their nodes, with numbers for them. */
export function numbered(graph: NamedGraph | undefined): {
  readonly nodes: readonly string[];
  readonly edges: readonly Edge[];
} {
  const place = new Map(graph?.nodes.map((name, index) => [name, index]));
  const edges = (graph?.edges ?? []).map(({ a, b, queries }) => ({
    a: place.get(a) ?? -1,
    b: place.get(b) ?? -1,
    queries,
  }));
  return { nodes: graph?.nodes ?? [], edges };
}

/** The nodes with the most weight on their edges, and the edges between those, renumbered. */
export function strongest(
  nodes: readonly string[],
  edges: readonly Edge[],
  most: number,
): { readonly nodes: readonly string[]; readonly edges: readonly Edge[] } {
  const weight = nodes.map(() => 0);
  for (const edge of edges)
    for (const node of [edge.a, edge.b]) if (node in weight) weight[node]! += edge.queries;
  const kept = nodes
    .map((_, index) => index)
    .sort((a, b) => weight[b]! - weight[a]! || a - b)
    .slice(0, most);
  const place = new Map(kept.map((node, index) => [node, index]));
  return {
    nodes: kept.map((node) => nodes[node]!),
    edges: edges.flatMap((edge) => {
      const [a, b] = [place.get(edge.a), place.get(edge.b)];
      return a === undefined || b === undefined ? [] : [{ a, b, queries: edge.queries }];
    }),
  };
}
