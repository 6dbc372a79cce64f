/** Builds the app into dist/web. Every address is relative, so the hub can serve it under any path. */
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import manifest from "../../package.json" with { type: "json" };

const folder = (path: string): string => decodeURIComponent(new URL(path, import.meta.url).pathname);

/** Lists the built files in the service worker, so that the shell is there offline. Lazy parts are cached when first used. */
function precache(): Plugin {
  return {
    name: "precache",
    generateBundle(_options, bundle) {
      const worker = bundle["sw.js"];
      if (worker?.type !== "chunk") return;
      const eager = new Set<string>();
      const follow = (name: string): void => {
        const file = bundle[name];
        if (file?.type !== "chunk" || eager.has(name)) return;
        eager.add(name);
        for (const next of file.imports) follow(next);
      };
      for (const file of Object.values(bundle))
        if (file.type === "chunk" && file.isEntry && file.fileName !== "sw.js") follow(file.fileName);
      const styles = Object.keys(bundle).filter((name) => name.endsWith(".css"));
      const files = ["./", ...eager, ...styles, "manifest.webmanifest", "icons/icon.svg"];
      // The minifier chooses the quotes around the placeholder.
      worker.code = worker.code.replace(/(["'`])__PRECACHE__\1/, () => JSON.stringify(JSON.stringify(files)));
    },
  };
}

export default defineConfig({
  root: folder("."),
  base: "./",
  publicDir: folder("./public"),
  plugins: [react(), precache()],
  define: { __ACP_HUB_VERSION__: JSON.stringify(manifest.version) },
  build: {
    outDir: folder("../../dist/web"),
    emptyOutDir: true,
    target: "es2022",
    // data: addresses would need an exception in the page's policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { app: folder("./index.html"), sw: folder("./sw/sw.ts") },
      output: {
        entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
