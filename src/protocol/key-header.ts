/** The random key of the hub's own app: the cookie alone is not enough, it goes to every port of the host (contract §2). */
export const KEY_HEADER = "X-Acp-Hub-Key";
