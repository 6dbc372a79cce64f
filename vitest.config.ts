import { defineConfig, type ViteUserConfig } from "vitest/config";

interface Folder {
  readonly name: string;
  readonly timeoutMs: number;
  /** Folders of one order run together; the next order starts when they are done. */
  readonly order: number;
  /** True where tests start processes: two at a time would starve each other's deadlines on a small machine. */
  readonly alone?: boolean;
  /** True where other processes or a browser have a say: CI tries once more, and marks it. Never where seeds are drawn. */
  readonly isTriedAgain?: boolean;
}

const FOLDERS: readonly Folder[] = [
  { name: "unit", timeoutMs: 10_000, order: 0 },
  { name: "conformance", timeoutMs: 30_000, order: 0 },
  { name: "integration", timeoutMs: 30_000, order: 0, isTriedAgain: true },
  { name: "e2e", timeoutMs: 60_000, order: 1, alone: true, isTriedAgain: true },
  { name: "browser", timeoutMs: 90_000, order: 2, alone: true, isTriedAgain: true },
  { name: "chaos", timeoutMs: 120_000, order: 3, alone: true },
];

const config: ViteUserConfig = defineConfig({
  test: {
    projects: FOLDERS.map((folder) => ({
      test: {
        name: folder.name,
        include: [`test/${folder.name}/**/*.test.{ts,tsx}`],
        testTimeout: folder.timeoutMs,
        hookTimeout: folder.timeoutMs,
        // A busy machine, not a fault, is what makes things late: its usual second is too little.
        expect: { poll: { timeout: 10_000 } },
        sequence: { groupOrder: folder.order },
        retry: folder.isTriedAgain === true && process.env["CI"] !== undefined ? 1 : 0,
        ...(folder.alone ? { fileParallelism: false } : {}),
      },
    })),
    coverage: { include: ["src/**"], exclude: ["src/web/**"], reportsDirectory: "coverage" },
  },
});

export default config;
