/** The demo's table, small, and a real server with real Spark for it. */

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PYTHON, ROOT } from "./chromium";

// For a few thousand rows, compiling costs far more than running, in Spark as in its JVM.
const LIGHT_JAVA =
  "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote";
// What Java has loaded before, if "make" has written it (tests/light_java.py).
const CLASSES = `${ROOT}.venv/classes.jsa`;
const SHARED = `-XX:SharedArchiveFile=${CLASSES} -Xlog:cds=off -Xlog:cds+dynamic=off`;
const SETTINGS = [
  "spark.sql.codegen.wholeStage=false",
  "spark.sql.codegen.factoryMode=NO_CODEGEN",
  "spark.sql.adaptive.enabled=false",
  "spark.sql.shuffle.partitions=2",
  "spark.sql.files.minPartitionNum=1",
  "spark.buffer.pageSize=256k",
  "spark.databricks.delta.snapshotPartitions=1",
  "spark.databricks.delta.writeChecksumFile.enabled=false",
  "spark.databricks.delta.incrementalCommit.verify=false",
  "spark.databricks.delta.allFilesInCrc.enabled=false",
  "spark.databricks.delta.allFilesInCrc.verificationMode.enabled=false",
  // So small a table is read by columns only where it is told to be.
  "spark.skipstone.groups=always",
];

const environment = {
  ...process.env,
  PYTHONPATH: `${ROOT}src`,
  PYTHONWARNINGS: "ignore",
  PYTHONUNBUFFERED: "1",
  SPARK_SUBMIT_OPTS: existsSync(CLASSES) ? `${LIGHT_JAVA} ${SHARED}` : LIGHT_JAVA,
  SPARK_LAUNCHER_OPTS: LIGHT_JAVA,
};
const WRITE = `
import sys
from pathlib import Path
from skipstone.cli.demo_data import QUERIES, write_orders
home = Path(sys.argv[1])
write_orders(home / "orders", int(sys.argv[2]))
(home / "queries.sql").write_text(QUERIES, encoding="utf-8")
`;

export interface Demo {
  readonly home: string;
  readonly table: string;
  readonly queries: string;
  readonly nonsense: string;
}

/** Where the demo will be; nothing of its table is there yet. */
export function newDemo(): Demo {
  const home = mkdtempSync(join(tmpdir(), "skipstone-page-"));
  const nonsense = join(home, "nonsense.sql");
  writeFileSync(nonsense, "QUALIFY ME <script>alert(1)</script>;\n");
  return { home, table: join(home, "orders"), queries: join(home, "queries.sql"), nonsense };
}

export async function writeDemo(demo: Demo, rows: number): Promise<void> {
  await promisify(execFile)(PYTHON, ["-c", WRITE, demo.home, String(rows)], { env: of(demo) });
}

/** What is measured while the story runs says nothing about this machine, and is not kept. */
function of(demo: Demo): NodeJS.ProcessEnv {
  return { ...environment, SKIPSTONE_COSTS: join(demo.home, "costs") };
}

export function forgetDemo(demo: Demo): void {
  rmSync(demo.home, { recursive: true, force: true });
}

export class DemoServer {
  private constructor(
    private readonly process: ChildProcess,
    readonly link: string,
  ) {}

  /** Start a server on any free port; it has answered with its link when this ends. */
  static async start(demo: Demo): Promise<DemoServer> {
    const options = ["--root", demo.home, "--state", join(demo.home, "state"), "--port", "0", "--json"];
    options.push(...SETTINGS.flatMap((setting) => ["--conf", setting]));
    const started = spawn(PYTHON, ["-m", "skipstone.cli", "serve", ...options], {
      env: of(demo),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [said, complaint] = ["", ""];
    started.stderr!.on("data", (data: Buffer) => (complaint += data.toString()));
    return new Promise((resolve, reject) => {
      started.on("exit", (code) => reject(new Error(`skipstone serve ended with ${code}: ${complaint}`)));
      started.stdout!.on("data", (data: Buffer) => {
        said += data.toString();
        const link = /"link": "([^"]+)"/.exec(said)?.[1];
        if (link) resolve(new DemoServer(started, link));
      });
    });
  }

  /** End it as a crash would. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
  }
}
