/**
 * What the page runs first. On a slow network the sequence is what a person waits for: this part is tiny, has a socket opened
 * and what the device kept read while the program is still on its way.
 */
import { hubBaseUrl } from "./app/base-url.ts";
import { dialAhead } from "./app/dial-ahead.ts";
import { parseRoute } from "./app/route.ts";
import { readAppKey } from "./platform/app-key.ts";
import { indexedStorage } from "./platform/indexed-storage.ts";
import { readAhead } from "./platform/read-ahead.ts";
import { HOME_KEY, sessionKey } from "./platform/stored-names.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";

const key = readAppKey();
const route = parseRoute(location.hash);
const shown = route.screen === "session" ? [sessionKey(route.sessionId)] : [];
const storage = readAhead(indexedStorage(), [HOME_KEY, ...shown]);
const ahead =
  key !== undefined && route.screen === "session"
    ? dialAhead(hubBaseUrl(), key, { fetch: (url, init) => fetch(url, init), WebSocket })
    : Promise.resolve(undefined);
if (key === undefined || route.screen === "pair") void import("./pair/pair-screen.tsx");
// Read while the rest is still coming.
void import("./app/react-root.ts");
const screens = import("./app/mount.tsx");
void import("./app/start.ts").then(({ start }) => start({ storage, ahead }, screens));
