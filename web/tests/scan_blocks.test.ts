import { expect, it } from "vitest";
import type { JoinOfScan } from "../src/api/types";
import { ranText } from "../src/block_map/scan_blocks";

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
