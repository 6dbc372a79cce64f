/** What a fake app-server does, as data: one file per test, readable by the separate process and by tests in memory. */
import type { JsonObject } from "../../../src/protocol/json.ts";

export type ProfileName = "0.14.7" | "0.15" | "0.16.5-aug" | "3.12" | "0.16.9";

/** One step of a turn. Steps run in order; a stop interrupts them. */
export type Step =
  /** An event of this turn, or of the turn named by `turnId`; `turnId: null` sends none. */
  | { readonly do: "event"; readonly type: string; readonly payload?: JsonObject; readonly turnId?: string | null }
  /** Streams text; it is also stored, as part of the message `message`. */
  | {
      readonly do: "text";
      readonly text: string;
      readonly message?: string;
      readonly stored?: boolean;
      readonly live?: boolean;
      readonly anonymous?: boolean;
    }
  | { readonly do: "reasoning"; readonly text: string; readonly message?: string; readonly live?: boolean }
  | { readonly do: "tool"; readonly payload: JsonObject }
  /** Asks the client; the name is for `expectAnswer`. */
  | { readonly do: "ask"; readonly name: string; readonly method: string; readonly params: JsonObject }
  | { readonly do: "expectAnswer"; readonly name: string }
  | { readonly do: "sleep"; readonly ms: number }
  /** Waits until the test says so (`fake.go(name)`). */
  | { readonly do: "until"; readonly name: string }
  | { readonly do: "state"; readonly reason: string; readonly patch?: JsonObject }
  | { readonly do: "store"; readonly message: JsonObject }
  | { readonly do: "set"; readonly members: Partial<SessionState> }
  | { readonly do: "complete"; readonly resultType?: string; readonly response?: string; readonly usage?: JsonObject }
  | { readonly do: "fail"; readonly error: JsonObject }
  /** Ends the turn inside the backend without telling: `all` hides prompt_completed too. */
  | { readonly do: "lose"; readonly all?: boolean }
  /** Leaves the turn running for ever. */
  | { readonly do: "hang" }
  | { readonly do: "raw"; readonly line: string }
  | { readonly do: "crash" };

export interface SessionState {
  mode: string;
  todos: JsonObject[];
  contextUsed: number;
  contextWindow: number;
  totalTokenCount: number;
  status: string;
}

export interface PromptScript {
  /** A prompt that contains this text; the first that fits counts. Empty fits all. */
  readonly match: string;
  readonly steps: readonly Step[];
  /** Used only once, so that the next prompt of the same text finds the next script. */
  readonly once?: boolean;
  /** What happens after the turn, outside of any. */
  readonly after?: readonly Step[];
}

export interface StoredSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  readonly messages?: readonly JsonObject[];
  readonly updatedAt?: number;
  /** Default "interactive". */
  readonly sessionKind?: string;
}

export interface Knobs {
  readonly bootDelayMs?: number;
  /** Frames that come before the boot is over are lost. */
  readonly bootDropsFrames?: boolean;
  /** Ends with code 1 at boot unless both provider variables are set. */
  readonly needsProviderEnv?: boolean;
  /** Stops are answered and ignored. `v4` ignores both kinds. */
  readonly ignoresStop?: "legacy" | "v4";
  /** After a resume `session/messages` grows by one message per read, this many times. */
  readonly hydrationReads?: number;
  /** The runtime is given up this long after a turn. */
  readonly evictAfterMs?: number;
  readonly messagesLagMs?: number;
  readonly messagesDelayMs?: number;
  /** `send` is refused this many times first. */
  readonly busy?: { readonly times: number; readonly code: number; readonly message: string };
  readonly unknownSessions?: readonly string[];
  /** Models that must have a level. */
  readonly models?: readonly JsonObject[];
  readonly slashCommands?: readonly JsonObject[];
  readonly announceAfterMs?: readonly number[];
  readonly asksHeaders?: boolean;
  /** Events name no turn at all. */
  readonly hidesTurnIds?: boolean;
}

export interface Scenario {
  readonly profile?: ProfileName;
  readonly knobs?: Knobs;
  readonly prompts?: readonly PromptScript[];
  readonly sessions?: readonly StoredSession[];
}

/** How the builds differ. */
export interface Profile {
  readonly hasSubscribe: boolean;
  readonly hasLegacySteer: boolean;
  readonly hasV4: boolean;
  readonly busyError: { readonly code: number; readonly message: string };
  /** What happens to a send while a turn runs. */
  readonly midTurn: "reject" | "queue" | "drop";
  readonly stopIsNoop: boolean;
  readonly turnIdPlace: "envelope" | "payload";
  readonly hasNumericIds: boolean;
  readonly asksPreferences: boolean;
  readonly takesModelObject: boolean;
  /** The goal can be asked for while a turn runs. */
  readonly showsGoalMidTurn: boolean;
}

const BUSY = { code: -32010, message: "A prompt is already running for this session" };
const NEW: Profile = {
  hasSubscribe: true,
  hasLegacySteer: false,
  hasV4: true,
  busyError: BUSY,
  midTurn: "reject",
  stopIsNoop: false,
  turnIdPlace: "envelope",
  hasNumericIds: false,
  asksPreferences: true,
  takesModelObject: true,
  showsGoalMidTurn: false,
};

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  "0.14.7": { ...NEW, hasSubscribe: false, hasV4: false, asksPreferences: false, takesModelObject: false },
  "0.15": {
    ...NEW,
    hasLegacySteer: true,
    hasV4: false,
    busyError: { code: 1308, message: "prompt is running" },
    midTurn: "queue",
    turnIdPlace: "payload",
    hasNumericIds: true,
    asksPreferences: false,
    takesModelObject: false,
    showsGoalMidTurn: true,
  },
  "0.16.5-aug": { ...NEW, midTurn: "drop", stopIsNoop: true, takesModelObject: false },
  "3.12": NEW,
  "0.16.9": NEW,
};
