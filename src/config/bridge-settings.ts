/** What a bridge reads of its environment. Nothing else: it must not pay for the whole configuration before its agent runs. */

export interface BridgeSettings {
  readonly home: string | undefined;
  /** `ACP_HUB_NO_AUTOSTART=1`: never start a hub. */
  readonly isAutostart: boolean;
  /** `ACP_HUB_NO_SHARE=1`: run the agent and dial no hub at all. */
  readonly isShared: boolean;
}

const isOn = (value: string | undefined): boolean =>
  value !== undefined && ["1", "true", "yes", "on"].includes(value.toLowerCase());

export function bridgeSettings(env: NodeJS.ProcessEnv): BridgeSettings {
  return {
    home: env["ACP_HUB_HOME"] || undefined,
    isAutostart: !isOn(env["ACP_HUB_NO_AUTOSTART"]),
    isShared: !isOn(env["ACP_HUB_NO_SHARE"]),
  };
}
