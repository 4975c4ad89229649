/** The blocks of a scan by what became of them. */

import type { GroupsOfScan, JoinOfScan, Scan, ScanBlocks } from "../api/types";
import { count, counted } from "../format";
import { classColours, css, type Palette, type Word } from "./colours";
import type { Swatch } from "./colouring";

export const STATES = [
  "read",
  "skipped",
  "left out by Spark",
  "read without statistics",
  "read from a replica",
] as const;

function words(palette: Palette): readonly Word[] {
  return [palette.read, palette.skipped, palette.pruned, palette.unknown, palette.copied];
}

const NONE: ScanBlocks = { state: [], reason: [] };

function blocksOf(scan: Scan): ScanBlocks {
  return scan.blocks ?? NONE;
}

/** One colour a block; with a reason chosen, only its blocks keep theirs. */
export function stateColours(scan: Scan, reason: number | null, palette: Palette): Uint32Array {
  const { state, reason: reasons } = blocksOf(scan);
  const shown = reason === null ? state : state.map((each, block) => (reasons[block] === reason ? each : -1));
  return classColours(shown, words(palette), { ...palette, unknown: reason === null ? palette.unknown : 0 });
}

export function stateSwatches(scan: Scan, palette: Palette): readonly Swatch[] {
  const times = STATES.map(() => 0);
  for (const state of blocksOf(scan).state) if (state in times) times[state]! += 1;
  return STATES.flatMap((name, state) =>
    times[state] === 0
      ? []
      : [{ colour: css(words(palette)[state]!), text: `${name} (${count(times[state])})` }],
  );
}

/** Why a block was read or skipped, in words. */
export function whyOf(scan: Scan, block: number): string {
  const state = STATES[blocksOf(scan).state[block] ?? -1] ?? "unknown";
  const reason = scan.reasons[blocksOf(scan).reason[block] ?? -1];
  const head = `Block ${count(block)}: ${state}`;
  return reason === undefined ? head : `${head}\n${reason.sentence} [${reason.code}]`;
}

const FROM_REPLICA = 4;

/** How much is read; files of replicas are none of the blocks. */
export function readOf(scan: Scan): string {
  const all = counted(scan.files_total, "block");
  return blocksOf(scan).state.includes(FROM_REPLICA)
    ? `${counted(scan.files_read, "file")} read, of replicas too, for ${all}`
    : `${count(scan.files_read)} of ${all} read`;
}

/** What a join did to the files of a scan when the query ran. */
export function ranText({ last }: JoinOfScan): string {
  if (last === null) return "it has not run";
  const keys = last.keys === 1 ? "1 key" : `${count(last.keys)} keys`;
  return `${keys}: ${last.failure || `${count(last.files_read)} of ${counted(last.files, "file")} read`}`;
}

/** How the rows of column groups become whole again. */
export function togetherBy({ groups, hash_joins, merge_joins }: GroupsOfScan): string {
  if (groups.length < 2) return "columns of one group, so that nothing is put together";
  const joins = [
    hash_joins > 0 ? counted(hash_joins, "hash join") : "",
    merge_joins > 0 ? counted(merge_joins, "sort-merge join") : "",
  ].filter(Boolean);
  return `rows put together by ${joins.length > 0 ? joins.join(" and ") : "their tuple ids when it runs"}`;
}

export interface ReasonCount {
  readonly index: number;
  readonly code: string;
  readonly sentence: string;
  readonly blocks: number;
  readonly state: string;
}

/** The reasons with how many blocks they are about, most first. */
export function reasonCounts(scan: Scan): readonly ReasonCount[] {
  const blocks = scan.reasons.map(() => 0);
  const states: (number | undefined)[] = scan.reasons.map(() => undefined);
  blocksOf(scan).reason.forEach((reason, block) => {
    if (blocks[reason] === undefined) return;
    blocks[reason]! += 1;
    states[reason] ??= blocksOf(scan).state[block];
  });
  return scan.reasons
    .map((reason, index) => ({
      index,
      ...reason,
      blocks: blocks[index]!,
      state: STATES[states[index] ?? -1] ?? "",
    }))
    .filter((reason) => reason.blocks > 0)
    .sort((a, b) => b.blocks - a.blocks);
}
