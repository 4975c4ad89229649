/**
 * The whole story of the page, in Chromium, on the demo's table, against a real server with real Spark. Every request
 * that leaves loopback fails it, and so does a serious issue that axe finds.
 *
 * STORY_ROWS is the size of the table, and STORY_PICTURES a directory for screenshots, if they are wanted.
 */

import { renameSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { count } from "../src/format";
import { launch, seriousIssues, watch, type Watched } from "./chromium";
import { DemoServer, forgetDemo, newDemo, writeDemo, type Demo } from "./demo_server";

const ROWS = Number(process.env["STORY_ROWS"] ?? 6400);
const BLOCK_ROWS = Math.max(50, Math.floor(ROWS / 64));
const PICTURES = process.env["STORY_PICTURES"];
const LONG = 180_000;

let demo: Demo;
let server: DemoServer;
let browser: Browser;
let page: Page;
let watched: Watched;
let written: Promise<void>;

beforeAll(async () => {
  demo = newDemo();
  written = writeDemo(demo, ROWS);
  [server, browser] = await Promise.all([DemoServer.start(demo), launch()]);
  page = await browser.newPage({ viewport: { width: 1366, height: 768 }, colorScheme: "dark" });
  page.setDefaultTimeout(20_000);
  watched = watch(page);
});

afterEach(() => {
  expect(watched.outside).toEqual([]);
  expect(watched.errors).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  if (demo) forgetDemo(demo);
});

async function go(hash: string, heading: RegExp): Promise<void> {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

async function seen(name: string): Promise<void> {
  expect(await seriousIssues(page)).toEqual([]);
  const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(width, "nothing is wider than a laptop's screen").toBeLessThanOrEqual(room!);
  if (!PICTURES) return;
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.screenshot({ path: join(PICTURES, `${name}-whole.png`), fullPage: true });
}

/** The job that this page started; it shows the newest of its own. */
async function started(button: RegExp): Promise<number> {
  const before = await page
    .locator("main .job")
    .evaluateAll((all) => all.map((each) => each.getAttribute("data-job")));
  await page.getByRole("button", { name: button }).click();
  const fresh = page.locator(`main .job${before.map((job) => `:not([data-job="${job}"])`).join("")}`);
  await fresh.first().waitFor();
  return Number(await fresh.first().getAttribute("data-job"));
}

/** Wait for a state of a job that is shown; another end tells what the job says. */
async function become(job: number, state: string): Promise<void> {
  const shown = (wanted: string) => page.locator(`main .job[data-job="${job}"][data-state="${wanted}"]`);
  const ends = ["done", "failed", "cancelled", "interrupted"].map(shown);
  const any = ends.reduce((all, end) => all.or(end), shown(state));
  await any.first().waitFor({ timeout: LONG });
  const line = page.locator(`main .job[data-job="${job}"]`).first();
  expect(await line.getAttribute("data-state"), (await line.textContent()) ?? "").toBe(state);
}

it("would notice a request that leaves loopback", async () => {
  const other = await browser.newPage();
  const seen = watch(other);
  await other.route("**/*", (route) => route.abort());
  await other.setContent(
    "<img src='http://192.0.2.1/a.png'><script>new WebSocket('ws://192.0.2.1')</script>",
  );
  await expect.poll(() => seen.outside).toEqual(["http://192.0.2.1/a.png", "ws://192.0.2.1/"]);
  await other.close();
});

it("opens by its link, and the token is gone from the address", async () => {
  await page.goto(server.link);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(page.url()).not.toContain("token");
  await seen("empty");
});

it("says in one sentence why a table cannot be registered", async () => {
  await page.getByLabel(/Path of a Delta table/).fill("/etc");
  await page.getByRole("button", { name: "Register" }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/^.+\.$/);
});

it("registers a table and looks at it", async () => {
  await written;
  await page.getByLabel(/Path of a Delta table/).fill(`orders=${demo.table}`);
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByText("64 files", { exact: false }).first().waitFor({ timeout: LONG });
  await seen("overview");
});

it("indexes the table", async () => {
  await go("#/tables/orders/layout", /Layout of orders/);
  await page.getByRole("button", { name: "Index", exact: true }).click();
  await page.getByText("64 blocks with statistics").waitFor({ timeout: LONG });
});

it("shows the blocks by a column, to the pointer and to the keyboard", async () => {
  await page.getByRole("combobox", { name: "Coloured by" }).selectOption("low");
  await page.getByRole("combobox", { name: "Column", exact: true }).selectOption("price");
  const map = page.getByRole("application", { name: /Block map of orders/ });
  await map.waitFor();
  await map.hover({ position: { x: 60, y: 20 } });
  await expect.poll(async () => page.locator(".tip").first().textContent()).toMatch(/price: .+ to .+/);
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect
    .poll(async () => page.locator("[aria-live=polite]").textContent())
    .toContain(`Block 1: ${count(ROWS / 64)} rows`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Block 1" }).waitFor();
  await page.getByRole("rowheader", { name: "customer_id" }).waitFor();
  await seen("blocks");
});

it("refuses a workload that it cannot read, and shows nothing of it as HTML", async () => {
  await go("#/tables/orders/workload", /Workload of orders/);
  await page.locator("input[type=file]").setInputFiles(demo.nonsense);
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/^.+\.$/s);
});

it("takes a query log, and analyses it", async () => {
  await page.locator("input[type=file]").setInputFiles(demo.queries);
  await page.getByRole("rowheader", { name: "queries.sql" }).waitFor();
  await become(await started(/Add to the log/), "done");
  await page.getByRole("combobox", { name: "Queries" }).selectOption("queries");
  await page.getByLabel("Features, at most").fill("4");
  await become(await started(/^Analyze$/), "done");
  const parts = ["Commonality", "Stability", "Features", "Filters by column", "Predicates"];
  for (const name of [...parts, "What comes together", "Drift over time"])
    await page.getByRole("heading", { name, exact: true }).waitFor();
  await page.locator(".u-over").first().waitFor();
  await seen("workload");
});

it("simulates every layout side by side", async () => {
  await go("#/tables/orders/advise", /Advise on orders/);
  await page.getByRole("combobox", { name: "Queries" }).selectOption("queries");
  await page.getByLabel("Rows in a block").fill(String(BLOCK_ROWS));
  await become(await started(/^Advise$/), "done");
  await page.getByRole("radio", { name: "qdtree" }).check();
  await page.getByRole("heading", { name: "After: qdtree" }).waitFor();
  expect(await page.locator("canvas").count()).toBe(2);
  await seen("advise");
});

it("cancels a rewrite, what waits for it says so, and the table stays as it is", async () => {
  const job = await started(/Optimize by qdtree/);
  const waiting = await page.evaluate(async () => {
    const body = JSON.stringify({ action: "index", table: "orders" });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/api/jobs", { method: "POST", headers, body });
    return ((await answer.json()) as { id: number }).id;
  });
  await go("#/jobs", /Jobs/);
  const line = (id: number) => page.locator(`main .job[data-job="${id}"]`);
  await line(waiting).getByText(`job ${job} (optimize), which writes to orders`, { exact: false }).waitFor();
  for (const id of [waiting, job])
    await line(id)
      .getByRole("button", { name: /Cancel/ })
      .click();
  await page.locator("main .job").first().waitFor({ state: "detached", timeout: LONG });
  for (const id of [waiting, job]) {
    await go(`#/jobs/${id}`, /orders/);
    await become(id, "cancelled");
  }
  await go("#/tables/orders/layout", /Layout of orders/);
  await page.getByText("as they were written", { exact: false }).waitFor();
  await go("#/tables/orders/advise", /Advise on orders/);
  await page.getByRole("radio", { name: "qdtree" }).check();
});

it("rewrites the table with progress to be seen", async () => {
  const job = await started(/Optimize by qdtree/);
  const bar = page.locator(`main .job[data-job="${job}"]`).getByRole("progressbar");
  const steps = new Set<string | null>();
  const look = setInterval(() => {
    bar.getAttribute("aria-valuenow", { timeout: 200 }).then(
      (value) => steps.add(value),
      () => undefined,
    );
  }, 100);
  await become(job, "done");
  clearInterval(look);
  expect(steps.size).toBeGreaterThan(1);
  await go("#/tables/orders/layout", /Layout of orders/);
  await page.getByText("laid out by qdtree", { exact: false }).waitFor({ timeout: LONG });
  await page
    .getByRole("region", { name: /Tree of the qdtree layout/ })
    .first()
    .waitFor();
  await page.getByRole("combobox", { name: "Coloured by" }).selectOption("reads");
  await page.getByRole("application", { name: /how often/ }).waitFor();
  await seen("layout");
});

it("lights up the blocks of a branch, and the branch of a block", async () => {
  const tree = page.getByRole("region", { name: /Tree of the qdtree layout/ }).first();
  await tree.locator('[data-node="1"] .choice').click();
  const note = page.getByText(/Only the \d+ blocks? that may hold rows/);
  await note.waitFor();
  await seen("branch");
  await page.getByRole("button", { name: "Show all blocks" }).click();
  await note.waitFor({ state: "detached" });
  const map = page.getByRole("application", { name: /Block map of orders/ });
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => tree.locator(".node.lit").count()).toBeGreaterThan(1);
});

it("makes a replica by column groups, with any arguments", async () => {
  await go("#/tables/orders/workload", /Workload of orders/);
  const sql = "SELECT sum(price) FROM orders WHERE customer_id < 9000;\n".repeat(4);
  const pairs = { name: "pairs.sql", mimeType: "text/plain", buffer: Buffer.from(sql) };
  await page.locator("input[type=file]").setInputFiles(pairs);
  await page.getByRole("rowheader", { name: "pairs.sql" }).waitFor();
  await go("#/jobs", /Jobs/);
  await page.getByText("Any action, with all of its arguments").click();
  await page.getByRole("combobox", { name: "Action" }).selectOption("replicate");
  await page.getByRole("combobox", { name: "Queries" }).selectOption("pairs");
  for (const [label, value] of [
    ["layout", "gsop"],
    ["grouping", "single"],
    ["inner", "qdtree"],
    ["block rows", String(4 * BLOCK_ROWS)],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value);
  await seen("any-job");
  await become(await started(/^Start replicate$/), "done");
  await go("#/tables/orders/layout", /Layout of orders/);
  const replicas = page.getByRole("table", { name: /^Replicas/ });
  await replicas.getByText("1 of 1").waitFor({ timeout: LONG });
  await replicas.getByText("100.0 %").waitFor();
  await replicas.getByText("1. customer_id").waitFor();
  await replicas.getByText("2. price").waitFor();
  await seen("replicas");
});

it("shows what a query reads of each column group", async () => {
  await go("#/tables/orders/query", /Query orders/);
  const sql = "SELECT sum(price) FROM orders WHERE customer_id < 5000";
  await page.getByRole("textbox", { name: "SQL" }).fill(sql);
  await become(await started(/^Run$/), "done");
  const groups = page.getByRole("table", { name: /^Column groups that are read/ });
  await groups.waitFor();
  const read = await groups.locator("tbody tr").allTextContents();
  expect(read.map((row) => /^(customer_id|price)/.exec(row)?.[1])).toEqual(["customer_id", "price"]);
  for (const row of read) expect(row).toMatch(/\d+ of \d+/);
  await page.getByText("rows put together by", { exact: false }).waitFor();
  await page.getByText(/read from a replica \(\d+\)/).waitFor();
  await seen("groups");
  await go("#/tables/orders/layout", /Layout of orders/);
  await become(await started(/^Drop /), "done");
  await page.getByText("There are no replicas.").waitFor({ timeout: LONG });
});

it("refuses what is no query, in one sentence", async () => {
  await go("#/tables/orders/query", /Query orders/);
  await page.getByRole("textbox", { name: "SQL" }).fill("DROP TABLE orders");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const alert = page.getByRole("alert");
  await alert.first().waitFor();
  expect(await alert.first().textContent()).toMatch(/^.+\.$/s);
});

it("shows which blocks a query skips, and why", async () => {
  await page
    .getByRole("textbox", { name: "SQL" })
    .fill(
      "SELECT country, count(*) FROM orders WHERE price > 450 AND country = 'NO' AND customer_id % 777 = 5 GROUP BY country",
    );
  await become(await started(/^Run$/), "done");
  await page.getByRole("heading", { name: "Blocks of orders" }).waitFor();
  await page.getByText(/skipped \(\d+\)/).waitFor();
  const map = page.getByRole("application", { name: /reads and skips/ });
  await map.focus();
  const told = page.locator("p[data-block]");
  for (let block = 0; block < 64; block += 1) {
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    if ((await told.textContent())?.includes(": skipped")) break;
  }
  expect(await told.textContent()).toMatch(/^Block \d+: skipped\s.+\[[A-Z_]+\]$/s);
  await page.locator("dd", { hasText: "yes" }).first().waitFor();
  await seen("query");
  await page
    .getByRole("button", { name: /^Index expression/ })
    .first()
    .waitFor();
});

it("tells what auto would do, and why", async () => {
  await go("#/tables/orders/decisions", /Decisions/);
  await become(await started(/Decide, and do it if it pays/), "done");
  await page.getByText("What would change this:").first().waitFor({ timeout: LONG });
  await seen("decisions");
});

it("keeps the jobs, their logs and their results", async () => {
  await go("#/jobs", /Jobs/);
  await page.getByRole("rowheader", { name: "optimize orders" }).first().waitFor();
  await seen("jobs");
  await page.getByRole("link", { name: "optimize orders" }).first().click();
  await page.getByRole("log").waitFor();
  await seen("job");
});

it("says of a table that vanished that it is gone, and knows it again when it is back", async () => {
  const [away, back] = [`${demo.table}-away`, demo.table];
  renameSync(back, away);
  // What the page asks of it meanwhile fails, too.
  await go("#/tables/orders/layout", /Layout of orders/);
  try {
    await page.evaluate(() => fetch("/api/tables/orders/look", { method: "POST" }));
    await page.getByRole("alert").getByText("does not exist", { exact: false }).waitFor({ timeout: LONG });
  } finally {
    renameSync(away, back);
  }
  await page.evaluate(() => fetch("/api/tables/orders/look", { method: "POST" }));
  // Nothing is left of what was said of the layout either.
  await page.getByRole("alert").first().waitFor({ state: "detached", timeout: LONG });
});

it("shows everything in light colours too", async () => {
  await page.emulateMedia({ colorScheme: "light" });
  for (const [hash, heading, name] of [
    ["#/", /Overview/, "overview-light"],
    ["#/tables/orders/layout", /Layout of orders/, "layout-light"],
    ["#/tables/orders/workload", /Workload of orders/, "workload-light"],
    ["#/tables/orders/query", /Query orders/, "query-light"],
    ["#/tables/orders/decisions", /Decisions/, "decisions-light"],
    ["#/jobs", /Jobs/, "jobs-light"],
    ["#/jobs/1", /index orders/, "job-light"],
    ["#/tables/orders/advise", /Advise on orders/, "advise-light"],
  ] as const) {
    await go(hash, heading);
    await page.waitForTimeout(200); // for the canvas, which tells nobody that it is drawn
    await seen(name);
  }
});

it("loses nothing when the server is killed in the middle of a rewrite", async () => {
  const before = await page.evaluate(
    async () => (await (await fetch("/api/tables/orders")).json()) as { files: number },
  );
  await page.getByRole("radio", { name: "zorder" }).check();
  const job = await started(/Optimize by zorder/);
  await become(job, "running");
  await server.kill();
  await page.getByText("The server does not answer", { exact: false }).waitFor();
  server = await DemoServer.start(demo);
  await page.goto(server.link);
  await go(`#/jobs/${job}`, /optimize orders/);
  await become(job, "interrupted");
  await go("#/tables/orders/layout", /Layout of orders/);
  await page.getByText(`laid out by qdtree`, { exact: false }).waitFor();
  await page.getByText(`${before.files} blocks with statistics`, { exact: false }).waitFor();
  await go("#/tables/orders/query", /Query orders/);
  await page.getByText("Spark ready", { exact: false }).waitFor({ timeout: LONG });
  await page.getByRole("textbox", { name: "SQL" }).fill("SELECT count(*) AS n FROM orders");
  await become(await started(/^Run$/), "done");
  await page.getByRole("rowheader", { name: String(ROWS) }).waitFor();
});
