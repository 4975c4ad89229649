import { defineConfig } from "vitest/config";

// One story, whose chapters follow each other; a chapter that fails ends it.
export default defineConfig({
  test: {
    include: ["browser/**/*.story.ts"],
    bail: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    sequence: { concurrent: false, shuffle: false },
  },
});
