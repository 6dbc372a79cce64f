/** The usual tests with `jitter.mjs` in every Node process they start (the workers have it from NODE_OPTIONS). */
import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";
import usual from "../../vitest.config.ts";

process.env["JITTER_MS"] ??= "20";
process.env["NODE_OPTIONS"] = `--import ${fileURLToPath(new URL("jitter.mjs", import.meta.url))}`;

const config: ViteUserConfig = Object.assign({}, usual, { root: fileURLToPath(new URL("../..", import.meta.url)) });

export default config;
