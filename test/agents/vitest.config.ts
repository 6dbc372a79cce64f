// Tests against real agents, which have to be installed first: on request, never part of `npm test`.
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    name: "agents",
    include: ["test/agents/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});

export default config;
