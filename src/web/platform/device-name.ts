/** What browsers say in place of a model that is none of the page's business. */
const NO_MODELS: ReadonlySet<string> = new Set(["K", "Mobile", "Tablet"]);

/** A first guess at what a person calls this device; they can change it. */
export function guessDeviceName(agent: string = navigator.userAgent): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrome\//.test(agent)
        ? "Chrome"
        : "Safari";
  const model = /Android [\d.]+; (.+?)(?: Build\/|;|\) (?:AppleWebKit|Gecko)\/)/.exec(agent)?.[1];
  if (model !== undefined && !NO_MODELS.has(model)) return model;
  if (/iPhone/.test(agent)) return "iPhone";
  if (/iPad/.test(agent)) return "iPad";
  const system = /Android/.test(agent)
    ? "Android"
    : /Mac OS X/.test(agent)
      ? "Mac"
      : /Windows/.test(agent)
        ? "Windows"
        : "Linux";
  return `${browser} on ${system}`;
}
