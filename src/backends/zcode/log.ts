/** Logging port: a constant message and fields. Prompt text, tool output, keys and tokens never go in. */
export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

export const silentLog: Log = () => {};
