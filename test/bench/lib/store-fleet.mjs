// A hundred sessions that stream at once, as the journal has them.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { chunk, cpuMicros, manual, round, sizeOf, textMaker } from "./store-world.mjs";

/** Sessions that stream at once, without a quiet moment: what a commit holds the loop for, and how large the log gets. */
export function fleet({ openStore, sessionKey }, dir, sessions, commits) {
  const scheduler = manual();
  const path = join(dir, "fleet.db");
  const fail = (error) => {
    throw error;
  };
  const keys = Array.from({ length: sessions }, (_, n) =>
    sessionKey({ agent: "bench", cwd: "/bench", sessionId: `s${n}` }),
  );
  const makeText = textMaker(300);
  const { store } = openStore({ path, scheduler, onError: fail });
  const wall = [];
  const cpu = [];
  let logBytesMax = 0;
  for (let seq = 1; seq <= commits; seq++) {
    const items = keys.map(() => chunk(seq, makeText(), `m${Math.floor(seq / 50)}`));
    scheduler.advance(40);
    const startCpu = process.cpuUsage();
    const start = performance.now();
    for (const [n, key] of keys.entries()) store.journal.append(key, "e1", [items[n]]);
    store.journal.flush();
    wall.push(performance.now() - start);
    cpu.push(cpuMicros(startCpu));
    logBytesMax = Math.max(logBytesMax, sizeOf(`${path}-wal`));
  }
  store.close();
  rmSync(path, { force: true });
  const micros = cpu.reduce((a, b) => a + b, 0);
  wall.sort((a, b) => a - b);
  cpu.sort((a, b) => a - b);
  return {
    sessions,
    commits,
    microsPerUpdate: round(micros / sessions / commits),
    commitMsP50: round(wall[Math.floor(wall.length / 2)]),
    commitMsP99: round(wall[Math.floor(wall.length * 0.99)]),
    commitMsMax: round(wall.at(-1)),
    commitCpuMsP99: round(cpu[Math.floor(cpu.length * 0.99)] / 1000),
    logMegabytesMax: round(logBytesMax / 1e6),
  };
}
