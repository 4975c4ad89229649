/** The tree that a layout was made by, beside the block map: a branch lights up its blocks, a block its branch. */

import { useMemo } from "preact/hooks";
import { part } from "../api/client";
import type { TableInfo, Tree } from "../api/types";
import { Card, Sentence } from "../parts/basics";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { TreeView } from "../parts/tree_view";
import { useFetched } from "../state/fetched";

interface TreeCardProps {
  readonly table: TableInfo;
  /** The block that is chosen in the map, -1 for none. */
  readonly block: number;
  readonly branch: number | null;
  readonly onBranch: (node: number | null) => void;
}

export function TreeCard({ table, block, branch, onBranch }: TreeCardProps) {
  const again = `${table.layout?.id} ${table.seen_at}`;
  const found = useFetched<Tree>(part`/api/tables/${table.id}/tree`, again);
  const above = useFetched<{ nodes: number[] }>(
    block < 0 ? null : part`/api/tables/${table.id}/blocks/${block}/branch`,
    again,
  );
  const adapting = useStarted("adapt", table.id);
  const adapt = (dry: boolean) => ({ action: "adapt", table: table.id, arguments: { dry_run: dry } });
  const path = useMemo(() => above.value?.nodes ?? [], [above.value]);
  return (
    <Card
      title={`Tree of the ${table.layout?.strategy} layout`}
      aside={<span class="soft small">choose a cut to see its blocks, or a block to see its cuts</span>}
    >
      <Sentence problem={found.problem ?? above.problem} />
      {found.value === null ? null : (
        <TreeView tree={found.value} path={path} chosen={branch} onChoose={onBranch} />
      )}
      {table.format === "delta" ? (
        <div class="row middle">
          <StartButton started={adapting} job={() => adapt(true)}>
            Say what adapting would change
          </StartButton>
          <StartButton started={adapting} job={() => adapt(false)}>
            Adapt the tree to the query log
          </StartButton>
        </div>
      ) : null}
      <StartedLine started={adapting} />
    </Card>
  );
}
