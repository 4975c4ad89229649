import { expect, it } from "vitest";
import type { GroupsOfScan, JoinOfScan, Scan } from "../src/api/types";
import { ranText, readOf, togetherBy } from "../src/block_map/scan_blocks";

const JOIN: JoinOfScan = {
  ...{ key: "d", join: "inner", other: "days", code: "BROADCAST", sentence: "It will." },
  ...{ share: 0.1, last: null },
};

it("tells what a join skipped, or why it skipped nothing", () => {
  expect(ranText(JOIN)).toBe("it has not run");
  const last = { keys: 31, files: 64, files_read: 5, failure: "" };
  expect(ranText({ ...JOIN, last })).toBe("31 keys: 5 of 64 files read");
  expect(ranText({ ...JOIN, last: { ...last, keys: 1, failure: "too many keys" } })).toBe(
    "1 key: too many keys",
  );
});

it("tells how column groups are put together", () => {
  const group = { columns: ["a"], blocks: 1, blocks_total: 9, rows: 10, bytes: 100 };
  const read: GroupsOfScan = {
    ...{ replica: "r", partitions: 1, partitions_total: 1, groups: [group, group] },
    ...{ hash_joins: 2, merge_joins: 1 },
  };
  expect(togetherBy(read)).toBe("rows put together by 2 hash joins and 1 sort-merge join");
  expect(togetherBy({ ...read, hash_joins: 0, merge_joins: 0 })).toBe(
    "rows put together by their tuple ids when it runs",
  );
  expect(togetherBy({ ...read, groups: [group] })).toBe(
    "columns of one group, so that nothing is put together",
  );
});

it("tells blocks that are read from files of replicas", () => {
  const scan = (state: number[]) =>
    ({ files_read: 2, files_total: 3, blocks: { state, reason: state } }) as unknown as Scan;
  expect(readOf(scan([0, 0, 1]))).toBe("2 of 3 blocks read");
  expect(readOf(scan([4, 4, 1]))).toBe("2 files read, of replicas too, for 3 blocks");
});
