/** A reporter for CI: names the tests that passed only when they were tried again, each of them a fault to mend. */
import type { Reporter, TestModule } from "vitest/node";

export default class TriedAgain implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests("passed")) {
        if (test.diagnostic()?.flaky === true)
          console.log(`tried again: ${module.relativeModuleId} > ${test.fullName}`);
      }
    }
  }
}
