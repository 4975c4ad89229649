import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["browser/**/*.bench.ts"], testTimeout: 120_000 } });
