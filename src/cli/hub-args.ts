/** Values that a hub is to understand, looked at before it is asked. Apart from `args.ts`: a bridge starts without them. */
import { scopesFromText } from "../protocol/scope-text.ts";
import { UsageError } from "./exit.ts";

/** Rights, as the API takes them. */
export function readScope(value: string | undefined): string | undefined {
  if (value === undefined || scopesFromText(value) !== undefined) return value;
  throw new UsageError(`--scope takes viewer, approver, driver, owner or names of scopes, not "${value}"`);
}

/** The address of a hub, as a browser opens it. */
export function readHubUrl(value: string | undefined): string | undefined {
  if (value === undefined || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) return value;
  throw new UsageError(`--url takes the address of a hub, such as https://hub.example, not "${value}"`);
}
