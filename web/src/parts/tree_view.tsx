/** The tree of a qd-tree or hyper layout: each cut with the rows that satisfy it, and those that do not, below it. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Tree, TreeNode } from "../api/types";
import { count, counted } from "../format";
import { Sql } from "./basics";

const OPEN_LEVELS = 3;

interface TreeViewProps {
  readonly tree: Tree;
  /** The nodes that a block lies in, the root first. */
  readonly path: readonly number[];
  readonly chosen: number | null;
  readonly onChoose: (node: number | null) => void;
}

interface Shared {
  readonly byId: ReadonlyMap<number, TreeNode>;
  readonly lit: ReadonlySet<number>;
  readonly deepest: number;
  readonly chosen: number | null;
  readonly onChoose: (node: number | null) => void;
}

export function TreeView({ tree, path, chosen, onChoose }: TreeViewProps) {
  const byId = useMemo(() => new Map(tree.nodes.map((node) => [node.id, node])), [tree]);
  const lit = useMemo(() => new Set(path), [path]);
  const root = tree.nodes[0];
  if (root === undefined) return <p class="empty">The tree has no nodes.</p>;
  const shared: Shared = { byId, lit, deepest: path.at(-1) ?? -1, chosen, onChoose };
  return (
    <div class="tree scroll" tabIndex={0} role="region" aria-label={`Tree of the ${tree.strategy} layout`}>
      <ul>
        <Branch node={root} level={0} mark="" shared={shared} />
      </ul>
    </div>
  );
}

interface BranchProps {
  readonly node: TreeNode;
  readonly level: number;
  readonly mark: string;
  readonly shared: Shared;
}

function Branch({ node, level, mark, shared }: BranchProps) {
  const [open, setOpen] = useState(level < OPEN_LEVELS);
  const line = useRef<HTMLDivElement>(null);
  const lit = shared.lit.has(node.id);
  const deepest = shared.deepest === node.id && level > 0;
  useEffect(() => {
    if (lit) setOpen(true);
    if (deepest) line.current?.scrollIntoView({ block: "nearest" });
  }, [lit, deepest]);
  const children = [
    ["yes", node.yes],
    ["no", node.no],
  ] as const;
  return (
    <li>
      <div class={lit ? "node lit" : "node"} data-node={node.id} ref={line}>
        {node.cut === null ? null : (
          <button
            type="button"
            class="fold"
            aria-expanded={open}
            aria-label={`What is below ${node.cut}`}
            onClick={() => setOpen(!open)}
          >
            {open ? "▾" : "▸"}
          </button>
        )}
        {mark === "" ? null : <span class="side-mark">{mark}</span>}
        <Choice node={node} shared={shared} />
        {lit ? <span class="hidden-text">the chosen block lies here</span> : null}
      </div>
      {node.cut !== null && open ? (
        <ul>
          {children.map(([name, id]) => {
            const child = id === null ? undefined : shared.byId.get(id);
            return child === undefined ? null : (
              <Branch key={name} node={child} level={level + 1} mark={name} shared={shared} />
            );
          })}
        </ul>
      ) : null}
    </li>
  );
}

function Choice({ node, shared }: { node: TreeNode; shared: Shared }) {
  const pressed = shared.chosen === node.id;
  return (
    <button
      type="button"
      class="choice"
      aria-pressed={pressed}
      title="Show its blocks on the map"
      onClick={() => shared.onChoose(pressed ? null : node.id)}
    >
      {node.cut === null ? (
        `leaf ${count(node.block ?? -1)}`
      ) : (
        <>
          <Sql text={node.cut} /> <span class="soft small">{counted(node.blocks, "block")}</span>
        </>
      )}
    </button>
  );
}
