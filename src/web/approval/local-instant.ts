/** Instants as a native input takes them. Pure. */

const two = (value: number): string => String(value).padStart(2, "0");

/** An instant in this device's time, without its zone; what is none, or has none, as it is. */
export function localInstant(value: string): string {
  if (!/(?:z|[+-]\d{2}:?\d{2})$/i.test(value)) return value;
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return value;
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const seconds = at.getSeconds() === 0 ? "" : `:${two(at.getSeconds())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}
