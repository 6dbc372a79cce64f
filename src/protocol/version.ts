/** The package version, put in by the build. */
declare const __ACP_HUB_VERSION__: string | undefined;

/** A semantic version; "0.0.0-source" when this runs unbuilt, as in unit tests. */
export const VERSION: string = typeof __ACP_HUB_VERSION__ === "string" ? __ACP_HUB_VERSION__ : "0.0.0-source";
