/**
 * The block map of 100,000 blocks in Chromium: how long one drawing takes, and how many frames a second there are while
 * the pointer moves over it. The page is the built one; the answers of the API are made up here. Figures go to
 * benchmarks/results/page.json.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus } from "node:os";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DRAWN } from "../src/block_map/paint";
import { ROOT, launch } from "./chromium";

const BLOCKS = 100_000;
const HOVER_MILLISECONDS = 4000;
const COMMAND = "make bench-page";
const PAGE = join(ROOT, "src/skipstone/server/page");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const list = (value: (block: number) => unknown) =>
  Array.from({ length: BLOCKS }, (_, block) => value(block));
const columns = ["price", "city", "ordered_on", "customer_id"].map((sql) => ({ sql, type: "int" }));
const table = {
  ...{
    id: "big",
    name: "big",
    source: "/big",
    state: "ready",
    problem: null,
    seen_at: "2026-01-01T00:00:00Z",
  },
  ...{ format: "delta", version: 1, files: BLOCKS, bytes: 1e12, rows: 1e9, files_indexed: BLOCKS, columns },
  ...{ expressions: [], features: ["price > 400"], layout: null, layouts: [], log: null, lately: null },
  ...{
    saving: null,
    drift: null,
    unclustered_files: 0,
    unclustered_bytes: 0,
    replicas: 0,
    health: null,
    job: null,
  },
};

function blocks(asked: URLSearchParams): unknown {
  const column = asked.get("column");
  return {
    ...{
      table: "big",
      version: 1,
      blocks: BLOCKS,
      layout: list(() => 0),
      layouts: ["1"],
      indexed: list(() => 1),
    },
    rows: list((block) => 10_000 + (block % 977)),
    bytes: list((block) => 1e6 + ((block * 7919) % 500_000)),
    reads: { queries: 1000, times: list((block) => (block * 31) % 1000) },
    ...(column === null
      ? {}
      : {
          column: {
            ...{ sql: column, type: "int", nulls: list(() => 0) },
            ...{ low: list(String), high: list((block) => String(block + 9)) },
            ...{ low_at: list((block) => block / BLOCKS), high_at: list((block) => block / BLOCKS) },
          },
        }),
  };
}

let files: Server;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  files = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const answers: Readonly<Record<string, unknown>> = {
      "/api/server": { version: "bench", spark: "ready", spark_problem: null, roots: [], dialects: [] },
      "/api/tables": { tables: [table] },
      "/api/jobs": { jobs: [] },
      "/api/workloads": { workloads: [] },
    };
    response.setHeader("Content-Security-Policy", "default-src 'self'");
    if (pathname === "/api/events") {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": here\n\n");
    } else if (pathname.startsWith("/api/")) {
      const answer = pathname === "/api/tables/big/blocks" ? blocks(searchParams) : answers[pathname];
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
    } else {
      const name = pathname === "/" ? "/index.html" : pathname;
      response.setHeader("Content-Type", TYPES[extname(name)] ?? "text/plain");
      response.end(readFileSync(join(PAGE, name)));
    }
  }).listen(0, "127.0.0.1");
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 1366, height: 850 } });
});

afterAll(async () => {
  await browser?.close();
  files?.closeAllConnections();
  files?.close();
});

it("draws and hovers", async () => {
  await page.goto(`http://127.0.0.1:${(files.address() as AddressInfo).port}/#/tables/big/layout`);
  const map = page.getByRole("application", { name: /Block map/ });
  await map.waitFor();
  for (const aspect of ["rows", "reads", "low", "high", "bytes", "rows", "reads", "low"]) {
    await page.getByRole("combobox", { name: "Coloured by" }).selectOption(aspect);
    await page.waitForTimeout(400);
  }
  const drawn = await page.evaluate(
    (name) => performance.getEntriesByName(name).map((each) => each.duration),
    DRAWN,
  );
  await map.scrollIntoViewIfNeeded();
  const intervals = await page.evaluate(hovered, HOVER_MILLISECONDS);
  const told = await page.locator(".tip").textContent();
  expect(drawn.length).toBeGreaterThan(5);
  expect(told).toMatch(/^Block /);
  const seconds = intervals.reduce((sum, each) => sum + each, 0) / 1000;
  const figures = [
    atMost("drawing 100,000 blocks, median", quantile(drawn, 0.5), "ms", 50),
    atMost("drawing 100,000 blocks, slowest", Math.max(...drawn), "ms", 50),
    // The screen of a headless Chromium has 60 frames a second, so that no more can be seen.
    atLeast("frames a second while hovering", intervals.length / seconds, "1/s", 59),
    atMost("longest of 95 % of the frames", quantile(intervals, 0.95), "ms", 17.5),
  ];
  write(figures);
  expect(figures.filter((figure) => !figure.holds)).toEqual([]);
});

/** Runs in the page: moves the pointer to another block before every frame, and returns the time between frames. */
async function hovered(milliseconds: number): Promise<number[]> {
  const canvas = document.querySelector("canvas")!;
  const box = canvas.getBoundingClientRect();
  const found: number[] = [];
  let step = 0;
  return new Promise((resolve) => {
    let [first, last] = [0, 0];
    const frame = (now: number) => {
      if (last > 0) found.push(now - last);
      else first = now;
      last = now;
      step += 1;
      const clientX = box.left + ((step * 37.3) % (box.width - 4));
      const clientY = box.top + ((step * 11.7) % (box.height - 4));
      canvas.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
      if (now - first < milliseconds) requestAnimationFrame(frame);
      else resolve(found);
    };
    requestAnimationFrame(frame);
  });
}

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: number;
  readonly holds: boolean;
  readonly command: string;
}

function atMost(name: string, value: number, unit: string, bar: number): Figure {
  return { name, value: Math.round(value * 1000) / 1000, unit, bar, holds: value <= bar, command: COMMAND };
}

function atLeast(name: string, value: number, unit: string, bar: number): Figure {
  return { name, value: Math.round(value * 1000) / 1000, unit, bar, holds: value >= bar, command: COMMAND };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

function write(figures: readonly Figure[]): void {
  const ran = { cores: cpus().length, processor: cpus()[0]?.model ?? "", chromium: browser.version() };
  const text = JSON.stringify({ figures, machine: ran }, null, 2);
  writeFileSync(join(ROOT, "benchmarks/results/page.json"), `${text}\n`);
  process.stdout.write(`${text}\n`);
}
