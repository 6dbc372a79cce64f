/** Times as people say them. */

/** Made when first used: each takes a slow phone some 20 ms, and they would all be made before anything is shown. */
function formatter(options: Intl.DateTimeFormatOptions): (then: number) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (then) => {
    format ??= new Intl.DateTimeFormat(undefined, options);
    return format.format(then);
  };
}

const clockTime = formatter({ hour: "2-digit", minute: "2-digit" });
const dayAndMonth = formatter({ day: "numeric", month: "short" });
const full = formatter({ dateStyle: "medium", timeStyle: "short" });

/** How long ago, short: "now", "4m", "3h", then the date. */
export function ago(then: number, now: number): string {
  if (then <= 0) return "";
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h`;
  return dayAndMonth(then);
}

/** How long it has lasted, to the minute: "4m", "3h 5m", "2d 3h"; nothing in the first minute, and of what is to come. */
export function lasted(since: number, now: number): string {
  const minutes = Math.floor((now - since) / 60_000);
  if (minutes < 1) return "";
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? joined(hours, "h", minutes % 60, "m") : joined(Math.floor(hours / 24), "d", hours % 24, "h");
}

const joined = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit} ${small}${smallUnit}`;

/** "14:02" today, with the date otherwise. `now` is of the clock that `then` is of. */
export function atTime(then: number, now: number): string {
  if (then <= 0) return "";
  const isToday = new Date(then).toDateString() === new Date(now).toDateString();
  return isToday ? clockTime(then) : `${dayAndMonth(then)} ${clockTime(then)}`;
}

export const fullTime = (then: number): string => (then <= 0 ? "never" : full(then));

/** "1:05" for a countdown of 65 s. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
