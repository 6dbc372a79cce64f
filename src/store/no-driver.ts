/** Why there is no SQLite to be had: the runtime has none, and the optional package is not there, or is there and does not load. */
import { StoreError } from "./errors.ts";

const BUILT_IN = "or use Node 22.13 or later (24 is best): it needs no package";
const REBUILD = `with this very Node, run "npm rebuild better-sqlite3" where acp-hub is installed, ${BUILT_IN}`;
const INSTALL = `install acp-hub again, ${BUILT_IN}`;

/** What is wrong, and what to do: doctor shows them apart. */
export class NoDriverError extends StoreError {
  readonly what: string;
  readonly fix: string;

  constructor({ what, fix }: Reason, cause: unknown) {
    super("no-driver", `${what}. What to do: ${fix}.`, { cause });
    this.what = what;
    this.fix = fix;
  }
}

interface Reason {
  readonly what: string;
  readonly fix: string;
}

/** `cause` is what loading `better-sqlite3`, or opening a first database with it, threw. */
export function noDriver(cause: unknown): NoDriverError {
  const { what, fix } = reasonOf(cause);
  return new NoDriverError({ what: `Node ${process.versions.node} has no built-in SQLite, and ${what}`, fix }, cause);
}

function reasonOf(cause: unknown): Reason {
  const { code, message, tries } = partsOf(cause);
  const module = /^Cannot find module '([^']+)'/.exec(message)?.[1];
  if (module === "better-sqlite3")
    return { what: 'the optional package "better-sqlite3" is not installed', fix: REBUILD };
  const broken = 'the optional package "better-sqlite3" does not load';
  if (code === "MODULE_NOT_FOUND") return { what: `${broken}: ${module ?? "a module of it"} is missing`, fix: INSTALL };
  // The package looks for its native part in many places, and lists them all.
  if (tries) return { what: `${broken}: its native part was not built, or is gone`, fix: REBUILD };
  const [builtFor, wanted] = [...message.matchAll(/NODE_MODULE_VERSION (\d+)/g)].map(([, version]) => version);
  if (builtFor !== undefined && wanted !== undefined) {
    const versions = `its native part was built for another Node (module version ${builtFor}, this one wants ${wanted})`;
    return { what: `${broken}: ${versions}`, fix: REBUILD };
  }
  const [line = ""] = message.split("\n");
  return { what: `${broken}: ${line}`, fix: code === "ERR_DLOPEN_FAILED" ? REBUILD : INSTALL };
}

function partsOf(cause: unknown): { readonly code: unknown; readonly message: string; readonly tries: boolean } {
  if (!(cause instanceof Error)) return { code: undefined, message: String(cause), tries: false };
  return { code: "code" in cause ? cause.code : undefined, message: cause.message, tries: "tries" in cause };
}
