/** Agent profiles that need no configuration: `acp-hub bridge zcode`. Nothing of the configuration can stand in their place. */
export const BUILT_IN_PROFILES: readonly string[] = ["zcode", "demo"];

/** Every profile that can be started by name; the first is the default where none is named. */
export const profileNames = (agents: Readonly<Record<string, unknown>>): string[] => [
  ...Object.keys(agents).filter((name) => !BUILT_IN_PROFILES.includes(name)),
  ...BUILT_IN_PROFILES,
];
