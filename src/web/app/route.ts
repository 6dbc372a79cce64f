/** Screens by the address fragment: the app is one static file under any path, and a fragment never reaches a server log. */

export type Route =
  | { readonly screen: "home" }
  | { readonly screen: "pair"; readonly code: string | undefined }
  | { readonly screen: "session"; readonly sessionId: string; readonly instanceId: string | undefined }
  | { readonly screen: "files"; readonly sessionId: string; readonly instanceId: string; readonly path: string }
  | { readonly screen: "devices" }
  | { readonly screen: "notifications" }
  | { readonly screen: "diagnostics" }
  | { readonly screen: "settings" };

const SIMPLE = new Set(["devices", "notifications", "diagnostics", "settings"] as const);
type SimpleScreen = typeof SIMPLE extends Set<infer Name> ? Name : never;

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, "");
  if (text.startsWith("pair=")) return { screen: "pair", code: decode(text.slice(5)) };
  const [path = "", search = ""] = text.split("?");
  const [first = "", second = ""] = path.split("/").filter((part) => part !== "");
  const query = new URLSearchParams(search);
  const instanceId = query.get("instance") ?? undefined;
  if (first === "session" && second !== "") return { screen: "session", sessionId: decode(second), instanceId };
  if (first === "files" && second !== "" && instanceId !== undefined) {
    return { screen: "files", sessionId: decode(second), instanceId, path: query.get("path") ?? "" };
  }
  if (first === "pair") return { screen: "pair", code: undefined };
  return SIMPLE.has(first as SimpleScreen) ? { screen: first as SimpleScreen } : { screen: "home" };
}

export function hrefOf(route: Route): string {
  switch (route.screen) {
    case "home":
      return "#/";
    case "pair":
      return "#/pair";
    case "session":
      return `#/session/${encodeURIComponent(route.sessionId)}${queryOf({ instance: route.instanceId })}`;
    case "files":
      return `#/files/${encodeURIComponent(route.sessionId)}${queryOf({ instance: route.instanceId, path: route.path })}`;
    case "devices":
    case "notifications":
    case "diagnostics":
    case "settings":
      return `#/${route.screen}`;
  }
}

function queryOf(members: Readonly<Record<string, string | undefined>>): string {
  const words = Object.entries(members).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  return words.length === 0 ? "" : `?${new URLSearchParams(words).toString()}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
