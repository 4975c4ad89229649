/** Which filters come together, drawn as arcs and listed as a table. */

import { useMemo, useState } from "preact/hooks";
import { number, shortened } from "../format";
import { Sql } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { arcDiagram, strongest, type Edge } from "./arcs";

const MOST_NODES = 24;
const LEFT = 330;
const WIDTH = 560;

interface CorrelationProps {
  readonly nodes: readonly string[];
  readonly edges: readonly Edge[];
}

export function Correlation(props: CorrelationProps) {
  const { nodes, edges } = useMemo(
    () => strongest(props.nodes, props.edges, MOST_NODES),
    [props.nodes, props.edges],
  );
  const [node, setNode] = useState(-1);
  if (edges.length === 0) return <p class="empty">No two filters come together in a query.</p>;
  const diagram = arcDiagram(nodes.length, edges, LEFT, WIDTH - LEFT - 20);
  const pairs = [...edges].sort((a, b) => b.queries - a.queries);
  return (
    <div class="stack">
      <svg class="arcs" viewBox={`0 0 ${WIDTH} ${diagram.height}`} aria-hidden="true">
        {diagram.arcs.map((arc) => (
          <path
            key={`${arc.a}-${arc.b}`}
            d={arc.path}
            stroke-width={arc.width}
            class={node < 0 || node === arc.a || node === arc.b ? "" : "off"}
          />
        ))}
        {nodes.map((sql, index) => (
          <g
            key={sql}
            class={index === node ? "on" : ""}
            onPointerEnter={() => setNode(index)}
            onPointerLeave={() => setNode(-1)}
          >
            <title>{sql}</title>
            <text x={LEFT - 12} y={diagram.rows[index]! + 4} text-anchor="end">
              {shortened(sql, 42)}
            </text>
            <circle cx={LEFT} cy={diagram.rows[index]!} r="3.5" />
          </g>
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <DataTable
          caption="Filters that come together, and in how many queries"
          rows={pairs}
          columns={[
            { title: "Filter", cell: (edge) => <Sql text={nodes[edge.a]!} /> },
            { title: "With", cell: (edge) => <Sql text={nodes[edge.b]!} /> },
            {
              title: "Queries",
              numeric: true,
              cell: (edge) => number(edge.queries),
              by: (edge) => edge.queries,
            },
          ]}
        />
      </details>
    </div>
  );
}
