/** What the build adds to the page and to its worker, from the names of the files it made. */
import type { HtmlTagDescriptor, Plugin } from "vite";
import { firstLoad, wholeApp } from "./first-load.ts";

/** Lists the built files in the service worker, so that the app is there offline. Languages to colour are cached when first used. */
export function precache(): Plugin {
  return {
    name: "precache",
    generateBundle(_options, bundle) {
      const worker = bundle["sw.js"];
      if (worker?.type !== "chunk") return;
      const styles = Object.keys(bundle).filter((name) => name.endsWith(".css"));
      const files = ["./", ...wholeApp(bundle), ...styles, "manifest.webmanifest", "icons/icon.svg"];
      // The minifier chooses the quotes around the placeholder.
      worker.code = worker.code.replace(/(["'`])__PRECACHE__\1/, () => JSON.stringify(JSON.stringify(files)));
    },
  };
}

/** All of the first load is on its way with the page: not when the entry has been read. */
export function preloadAll(): Plugin {
  return {
    name: "preload-all",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle = {} }) =>
        [...firstLoad(bundle)].filter((name) => !html.includes(`./${name}"`)).map(preload),
    },
  };
}

const preload = (name: string): HtmlTagDescriptor => ({
  tag: "link",
  attrs: { rel: "modulepreload", crossorigin: true, href: `./${name}` },
  injectTo: "head",
});
