/** The files a bridge needs of the hub's home. `src/config/paths.ts` makes them; nothing else of the configuration is read here. */
export interface BridgePaths {
  /** `run/`: 0700, holds the sockets. */
  readonly runDir: string;
  /** `run/link.sock`. */
  readonly linkSocket: string;
  /** `run/hub.json`: pid, port, version of the hub that runs. */
  readonly hubInfo: string;
  /** `logs/`. */
  readonly logDir: string;
}
