/** A first guess at what a person calls this device; they can change it. */
export function guessDeviceName(agent: string = navigator.userAgent): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrome\//.test(agent)
        ? "Chrome"
        : "Safari";
  const android = /Android [\d.]+; ([^;)]+)/.exec(agent)?.[1];
  if (android !== undefined && android !== "K") return android.replace(/ Build\/.*$/, "");
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
