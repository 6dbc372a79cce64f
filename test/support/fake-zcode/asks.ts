/** Requests of the backend to its client: announced again and again under new ids until one of them is answered. */
import type { Clock } from "../../../src/backends/zcode/clock.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { answerProblem } from "./schemas.ts";

const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 10_000];

export interface Wait {
  readonly name: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly ids: (string | number)[];
  readonly done: Promise<JsonObject | undefined>;
  /** Undefined when the wait was aborted or rejected. */
  result: JsonObject | undefined;
  isOver: boolean;
}

export interface AskPorts {
  readonly clock: Clock;
  readonly hasNumericIds: boolean;
  write(frame: JsonObject): void;
  violation(text: string): void;
}

interface OpenWait extends Wait {
  resolve(result: JsonObject | undefined): void;
  cancelTimer: () => void;
}

export class FakeAsks {
  readonly #ports: AskPorts;
  readonly #byId = new Map<string | number, OpenWait>();
  #nextId = 1;
  /** Every wait there was, in order. */
  readonly all: Wait[] = [];

  constructor(ports: AskPorts) {
    this.#ports = ports;
  }

  ask(name: string, method: string, params: JsonObject, isRepeated: boolean): Wait {
    let resolve = (_result: JsonObject | undefined): void => {};
    const done = new Promise<JsonObject | undefined>((settle) => {
      resolve = settle;
    });
    const wait: OpenWait = {
      name,
      method,
      params,
      ids: [],
      done,
      result: undefined,
      isOver: false,
      resolve,
      cancelTimer: () => {},
    };
    this.all.push(wait);
    this.#announce(wait, isRepeated ? 0 : undefined);
    return wait;
  }

  /** An answer from the client. Answers after the first are ignored, as the real one does. */
  answered(id: string | number, result: unknown, error: unknown): void {
    const wait = this.#byId.get(id);
    if (wait === undefined) return this.#ports.violation(`answer to unknown id ${String(id)}`);
    const problem = error === undefined ? answerProblem(wait.method, result) : undefined;
    if (problem !== undefined) this.#ports.violation(`${wait.method}: ${problem}`);
    if (wait.isOver) return;
    this.#end(wait, problem === undefined && error === undefined ? (result as JsonObject) : undefined);
  }

  /** The runtime gives up on a wait; nothing is sent. */
  abort(match: (wait: Wait) => boolean): void {
    for (const wait of new Set(this.#byId.values())) if (!wait.isOver && match(wait)) this.#end(wait, undefined);
  }

  get open(): Wait[] {
    return this.all.filter((wait) => !wait.isOver);
  }

  #end(wait: OpenWait, result: JsonObject | undefined): void {
    wait.isOver = true;
    wait.result = result;
    wait.cancelTimer();
    wait.resolve(result);
  }

  #announce(wait: OpenWait, round: number | undefined): void {
    const number = this.#nextId++;
    const id = this.#ports.hasNumericIds ? 100 + number : `server-${number}`;
    wait.ids.push(id);
    this.#byId.set(id, wait);
    this.#ports.write({ id, method: wait.method, params: wait.params });
    if (round === undefined) return;
    const delay = AGAIN_MS[Math.min(round, AGAIN_MS.length - 1)] ?? 10_000;
    wait.cancelTimer = this.#ports.clock.setTimeout(() => {
      if (!wait.isOver) this.#announce(wait, round + 1);
    }, delay);
  }
}
