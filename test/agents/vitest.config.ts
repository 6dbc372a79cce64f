// Tests against real agents, which are installed on the first run: on request, never part of `npm test`.
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    name: "agents",
    include: ["test/agents/**/*.test.ts"],
    globalSetup: ["test/agents/global-setup.ts"],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // One agent at a time: two starting at once on a small machine miss each other's deadlines.
    fileParallelism: false,
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});

export default config;
