/** The tree of a qd-tree or hyper layout: each cut with the rows that satisfy it, and those that do not, below it. */

import { useMemo, useState } from "preact/hooks";
import type { Tree, TreeNode } from "../api/types";
import { count, counted } from "../format";
import { Sql } from "./basics";

const OPEN_LEVELS = 3;

export function TreeView({ tree }: { tree: Tree }) {
  const byId = useMemo(() => new Map(tree.nodes.map((node) => [node.id, node])), [tree]);
  const root = tree.nodes[0];
  if (root === undefined) return <p class="empty">The tree has no nodes.</p>;
  return (
    <div class="tree scroll" tabIndex={0} role="region" aria-label={`Tree of the ${tree.strategy} layout`}>
      <ul>
        <Branch node={root} byId={byId} level={0} mark="" />
      </ul>
    </div>
  );
}

interface BranchProps {
  readonly node: TreeNode;
  readonly byId: ReadonlyMap<number, TreeNode>;
  readonly level: number;
  readonly mark: string;
}

function Branch({ node, byId, level, mark }: BranchProps) {
  const [open, setOpen] = useState(level < OPEN_LEVELS);
  const sign = mark === "" ? null : <span class="side-mark">{mark}</span>;
  if (node.cut === null)
    return (
      <li class="leaf">
        {sign}
        <span>{node.block === null ? counted(node.blocks, "block") : `block ${count(node.block)}`}</span>
      </li>
    );
  const children = [
    ["yes", node.yes],
    ["no", node.no],
  ] as const;
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {sign}
          <Sql text={node.cut} /> <span class="soft small">{counted(node.blocks, "block")}</span>
        </summary>
        {open ? (
          <ul>
            {children.map(([name, id]) => {
              const child = id === null ? undefined : byId.get(id);
              return child === undefined ? null : (
                <Branch key={name} node={child} byId={byId} level={level + 1} mark={name} />
              );
            })}
          </ul>
        ) : null}
      </details>
    </li>
  );
}
