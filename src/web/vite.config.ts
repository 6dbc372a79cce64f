/** Builds the app into dist/web. Every address is relative, so the hub can serve it under any path. */
import react from "@vitejs/plugin-react";
import { defineConfig, type HtmlTagDescriptor, type Plugin, type Rollup } from "vite";
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
        if (file.isEntry) for (const next of file.dynamicImports.filter(isScreens(bundle))) follow(next);
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

/** The part that draws: the entry asks for it while it talks to the hub. */
const SCREENS = "/app/mount.tsx";

const isScreens =
  (bundle: Rollup.OutputBundle) =>
  (name: string): boolean => {
    const file = bundle[name];
    return file?.type === "chunk" && file.facadeModuleId?.endsWith(SCREENS) === true;
  };

/** The screens are on their way with the page: not when the entry has been read. */
function preloadScreens(): Plugin {
  return {
    name: "preload-screens",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const scripts = new Set<string>();
        const styles = new Set<string>();
        const follow = (name: string): void => {
          const file = bundle[name];
          if (file?.type !== "chunk" || scripts.has(name)) return;
          scripts.add(name);
          for (const style of file.viteMetadata?.importedCss ?? []) styles.add(style);
          for (const next of file.imports) follow(next);
        };
        for (const name of Object.keys(bundle).filter(isScreens(bundle))) follow(name);
        const isNew = (name: string): boolean => !html.includes(`./${name}"`);
        return [
          ...[...scripts].filter(isNew).map((name) => linkTo("modulepreload", name)),
          ...[...styles].filter(isNew).map((name) => linkTo("stylesheet", name)),
        ];
      },
    },
  };
}

const linkTo = (rel: string, name: string): HtmlTagDescriptor => ({
  tag: "link",
  attrs: { rel, crossorigin: true, href: `./${name}` },
  injectTo: "head",
});

export default defineConfig({
  root: folder("."),
  base: "./",
  publicDir: folder("./public"),
  plugins: [react(), precache(), preloadScreens()],
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
        codeSplitting: { groups: [{ name: "react", test: /node_modules\/(?:react|react-dom|scheduler)\// }] },
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
