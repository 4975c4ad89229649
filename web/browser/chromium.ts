/** Chromium for tests and figures: the one of the system, which asks nobody but the page's own server for anything. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";

export const ROOT = new URL("../..", import.meta.url).pathname;
export const PYTHON = process.env["SKIPSTONE_PYTHON"] ?? `${ROOT}.venv/bin/python`;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch(): Promise<Browser> {
  const executablePath = execFileSync(PYTHON, [`${ROOT}.ci/find_chromium.py`], { encoding: "utf8" }).trim();
  return chromium.launch({ executablePath, args: FLAGS });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What axe finds on a page that is serious or worse, one line each. */
export async function seriousIssues(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${AXE}; 0`);
  const found = await page.evaluate<readonly Violation[]>("axe.run().then((result) => result.violations)");
  return found
    .filter((each) => each.impact === "serious" || each.impact === "critical")
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

export interface Watched {
  /** Requests that left loopback. */
  readonly outside: string[];
  /** Errors of scripts, and what the content security policy refused. */
  readonly errors: string[];
}

export function watch(page: Page): Watched {
  const watched: Watched = { outside: [], errors: [] };
  const note = (asked: { url(): string }) => {
    if (new URL(asked.url()).hostname !== "127.0.0.1") watched.outside.push(asked.url());
  };
  page.on("request", note);
  page.on("websocket", note);
  page.on("pageerror", (error) => watched.errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Uncaught/.test(message.text()))
      watched.errors.push(message.text());
  });
  return watched;
}
