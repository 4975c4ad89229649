import { defineConfig } from "vite";

// Nothing is inlined: the server sends "default-src 'self'", which forbids data: addresses and inline scripts.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/skipstone/server/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
  },
});
