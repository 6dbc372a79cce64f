/**
 * What the page runs first. On a slow network the sequence is what a person waits for: this part is tiny, and has a socket and
 * what the device kept opened while the program is still on its way.
 */
import { hubBaseUrl } from "./app/base-url.ts";
import { dialAhead } from "./app/dial-ahead.ts";
import { parseRoute } from "./app/route.ts";
import { readAppKey } from "./platform/app-key.ts";
import { indexedStorage } from "./platform/indexed-storage.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";

const storage = indexedStorage();
const key = readAppKey();
const { screen } = parseRoute(location.hash);
const ahead =
  key !== undefined && screen === "session"
    ? dialAhead(hubBaseUrl(), key, { fetch: (url, init) => fetch(url, init), WebSocket })
    : Promise.resolve(undefined);
if (key === undefined || screen === "pair") void import("./pair/pair-screen.tsx");
// Read while the rest is still coming.
void import("./app/react-root.ts");
const screens = import("./app/mount.tsx");
void import("./app/start.ts").then(({ start }) => start({ storage, ahead }, screens));
