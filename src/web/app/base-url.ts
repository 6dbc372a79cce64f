/** Where the hub lives: the folder this page was served from. */
export const hubBaseUrl = (): string => new URL("./", location.href.replace(/#.*$/, "")).href;
