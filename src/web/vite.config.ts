/** Builds the app into dist/web. Every address is relative, so the hub can serve it under any path. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import manifest from "../../package.json" with { type: "json" };
import { chunkOf } from "./build/chunks.ts";
import { precache, preloadAll } from "./build/plugins.ts";

const folder = (path: string): string => decodeURIComponent(new URL(path, import.meta.url).pathname);

export default defineConfig({
  root: folder("."),
  base: "./",
  publicDir: folder("./public"),
  plugins: [react(), precache(), preloadAll()],
  define: { __ACP_HUB_VERSION__: JSON.stringify(manifest.version) },
  build: {
    outDir: folder("../../dist/web"),
    emptyOutDir: true,
    target: "es2022",
    // data: addresses would need an exception in the page's policy.
    assetsInlineLimit: 0,
    // All of it is smaller than a second request is long.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { app: folder("./index.html"), sw: folder("./sw/sw.ts") },
      output: {
        entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { debugName: "first load", name: (id, graph) => chunkOf(id, (other) => graph.getModuleInfo(other)) },
          ],
        },
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
