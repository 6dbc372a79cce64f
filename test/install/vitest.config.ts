/** The package as people install it: from its tarball, with its dependencies from the registry. `npm run test:install`. */
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    name: "install",
    include: ["test/install/**/*.test.ts"],
    // A native dependency is compiled where no built one can be had.
    testTimeout: 300_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});

export default config;
