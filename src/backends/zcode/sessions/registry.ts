/** Sessions by every id they go by. One backend session is one object here, however many ids clients use for it. */
import { isAbsolute } from "node:path";
import { invalidParams } from "../../../protocol/errors.ts";
import type { Json } from "../../../protocol/json.ts";
import { AcpFailure } from "../acp/link.ts";
import type { Settings } from "../translate/config-options.ts";
import { Session, type SessionPorts } from "./session.ts";
import type { LazyTable, SessionMap } from "./session-map.ts";

export interface Opening {
  /** The client's idea of the folder. Only used for a session that has none yet. */
  readonly cwd?: string | undefined;
  readonly mcpServers?: readonly Json[] | undefined;
}

/** True for a folder a session can live in. */
export const isUsableCwd = (cwd: string | undefined): cwd is string =>
  cwd !== undefined && isAbsolute(cwd) && cwd !== "/";

export class SessionRegistry {
  readonly #byAlias = new Map<string, Session>();
  readonly #byZcode = new Map<string, Session>();
  readonly #store: SessionMap;
  readonly #ports: SessionPorts;
  readonly #defaults: () => Settings;

  constructor(store: SessionMap, ports: SessionPorts, defaults: () => Settings) {
    this.#store = store;
    this.#ports = ports;
    this.#defaults = defaults;
  }

  get all(): readonly Session[] {
    return [...new Set([...this.#byAlias.values(), ...this.#byZcode.values()])];
  }

  byAlias(id: string): Session | undefined {
    return this.#byAlias.get(id);
  }

  byZcode(id: string): Session | undefined {
    return this.#byZcode.get(id);
  }

  /** A placeholder: nothing in the backend until it is used. */
  create(alias: string, opening: Required<Pick<Opening, "cwd">> & Opening): Session {
    if (!isUsableCwd(opening.cwd))
      throw new AcpFailure(invalidParams("cwd", 'must be an absolute path other than "/"'));
    const session = this.#make({ cwd: opening.cwd, mcpServers: opening.mcpServers, isBornHere: true });
    this.#join(alias, session);
    return session;
  }

  /** The session behind an id a client brings: known here, in the file, or an id of the backend's own. */
  async resolve(id: string, opening: Opening): Promise<Session> {
    const known = this.#byAlias.get(id);
    if (known !== undefined) return remember(known, opening);
    const record = (await this.#store.read()).get(id);
    // Another request may have resolved it while the file was read.
    const raced = this.#byAlias.get(id);
    if (raced !== undefined) return remember(raced, opening);
    const zcodeSid = record === undefined ? id : record.zcodeSid;
    const shared = zcodeSid === undefined ? undefined : this.#byZcode.get(zcodeSid);
    if (shared !== undefined) {
      this.#join(id, shared);
      return remember(shared, opening);
    }
    const cwd = record?.cwd ?? (isUsableCwd(opening.cwd) ? opening.cwd : "");
    const session = this.#make({ cwd, zcodeSid, mcpServers: opening.mcpServers, isBornHere: zcodeSid === undefined });
    session.isCwdTrusted = record !== undefined;
    Object.assign(session.choice, record?.choice);
    this.#join(id, session);
    if (zcodeSid !== undefined) this.#byZcode.set(zcodeSid, session);
    return session;
  }

  /** A session the backend just made for one of ours. */
  bind(session: Session, zcodeSid: string): void {
    session.zcodeSid = zcodeSid;
    this.#byZcode.set(zcodeSid, session);
  }

  /** A session the backend made on its own (a fork), known by the backend's id. */
  adopt(zcodeSid: string, from: Session): Session {
    const known = this.#byZcode.get(zcodeSid);
    if (known !== undefined) return known;
    const session = this.#make({ cwd: from.cwd, zcodeSid, mcpServers: from.mcpServers, isBornHere: false });
    session.isCwdTrusted = true;
    this.#join(zcodeSid, session);
    this.#byZcode.set(zcodeSid, session);
    return session;
  }

  /** One of its ids is closed. False when it was the last: then the session itself is over. */
  leave(session: Session, alias: string): boolean {
    if (session.aliases.size < 2 || !session.aliases.delete(alias)) return false;
    this.#byAlias.delete(alias);
    return true;
  }

  forget(session: Session): void {
    for (const alias of session.aliases) if (this.#byAlias.get(alias) === session) this.#byAlias.delete(alias);
    if (session.zcodeSid !== undefined && this.#byZcode.get(session.zcodeSid) === session)
      this.#byZcode.delete(session.zcodeSid);
    session.aliases.clear();
  }

  /** The id a backend session is listed under: the one a client of ours knows, else the one in the file, else its own. */
  listedId(zcodeSid: string, table: LazyTable): string {
    const alias = this.#byZcode.get(zcodeSid)?.mainAlias;
    if (alias !== undefined) return alias;
    for (const [id, record] of table) if (record.zcodeSid === zcodeSid) return id;
    return zcodeSid;
  }

  #make(init: {
    cwd: string;
    zcodeSid?: string | undefined;
    mcpServers?: readonly Json[] | undefined;
    isBornHere: boolean;
  }): Session {
    return new Session({ ...init, settings: this.#defaults() }, this.#ports);
  }

  #join(alias: string, session: Session): void {
    session.aliases.add(alias);
    this.#byAlias.set(alias, session);
  }
}

/** What a client says when it opens a session again: its MCP servers count, its folder does not. */
function remember(session: Session, opening: Opening): Session {
  if (opening.mcpServers !== undefined && opening.mcpServers.length > 0) session.mcpServers = opening.mcpServers;
  if (session.cwd === "" && isUsableCwd(opening.cwd)) session.cwd = opening.cwd;
  return session;
}
