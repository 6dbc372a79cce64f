/** What a `zcode` profile can set. Every member has a default; unknown members are ignored by the reader of the file. */
export interface ZcodeConfig {
  /** Path of ZCode's executable or script. Default: `ZCODE_BIN`, PATH, the desktop app. */
  readonly bin?: string;
  /** Node that runs ZCode's script. Default: the first one found that has node:sqlite. */
  readonly node?: string;
  /** Mode of new sessions: plan, build, edit, yolo, auto. Default "build": it asks before it edits or runs. */
  readonly mode?: string;
  /** Model of new sessions as `providerId\modelId`. Default: ZCode's own last choice. */
  readonly model?: string;
  /** Thought level of new sessions. Default: the model's own. */
  readonly thought?: string;
  /** Environment variables laid over the bridge's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Declines a question nobody answered in this time, in milliseconds. Default: never. */
  readonly interactionTimeoutMs?: number;
  /** A longer line of ZCode's process is dropped. Default: 256 MiB, as of any agent. */
  readonly lineBytes?: number;
  /** Shows a thought "Thinking…" when a turn is silent for 1.2 s. Default true. */
  readonly showsThinkingHint?: boolean;
  /** What ZCode is told when it asks for the host's preferences. Default: both off. */
  readonly nativeSearch?: boolean;
  readonly memory?: boolean;
}

export interface ResolvedConfig {
  readonly mode: string;
  readonly model: string | undefined;
  readonly thought: string | undefined;
  readonly interactionTimeoutMs: number | undefined;
  readonly lineBytes: number | undefined;
  readonly showsThinkingHint: boolean;
  readonly nativeSearch: boolean;
  readonly memory: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

function positiveMs(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
}

/** The profile stands in the file as a person wrote it. */
const positiveCount = (value: number | undefined): number | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? value : undefined;

/** The settings in effect: profile, then environment where it has a say, then default. */
export function resolveConfig(config: ZcodeConfig, env: Env): ResolvedConfig {
  return {
    mode: config.mode ?? "build",
    model: config.model,
    thought: config.thought,
    interactionTimeoutMs: config.interactionTimeoutMs ?? positiveMs(env["ZCODE_ACP_INTERACTION_TIMEOUT_MS"]),
    lineBytes: positiveCount(config.lineBytes),
    showsThinkingHint: config.showsThinkingHint ?? true,
    nativeSearch: config.nativeSearch ?? false,
    memory: config.memory ?? false,
  };
}

/** The environment the app-server is planned with: the bridge's own, the profile's on top. One that is empty is not set. */
export function launchEnv(config: ZcodeConfig, env: Env): Env {
  const laid: Env = {
    ...env,
    ...(config.bin === undefined ? {} : { ZCODE_BIN: config.bin }),
    ...(config.node === undefined ? {} : { ZCODE_NODE: config.node }),
    ...config.env,
  };
  return Object.fromEntries(Object.entries(laid).filter(([name, value]) => value !== "" || !name.startsWith("ZCODE_")));
}
