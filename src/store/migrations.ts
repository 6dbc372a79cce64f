/**
 * The schema as steps; `user_version` counts those done. Steps are append-only: a shipped one never changes.
 *
 * A session's rows hang on a small integer (`session_ids`): keys are long, and each store can be first to name one.
 * The journal holds one row per commit and epoch, not one per update: that is what makes 2 µs an update possible.
 */
import type { Database } from "./driver.ts";
import { StoreError } from "./errors.ts";
import { indexDocument } from "./index-text.ts";

const JOURNAL = `
CREATE TABLE session_ids (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY REFERENCES session_ids(id) ON DELETE CASCADE,
  session_id TEXT NOT NULL, agent TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT,
  epochs TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  state TEXT NOT NULL, closed_at INTEGER, listed INTEGER NOT NULL, extra TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_recent ON sessions (updated_at, id);
CREATE INDEX sessions_named ON sessions (session_id);

-- exact_after: the last event that was coalesced, or is missing between others. holed: 1 when some are missing.
-- digested: the last event the text index has seen.
CREATE TABLE epochs (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session_ids(id) ON DELETE CASCADE,
  name TEXT NOT NULL, head INTEGER NOT NULL, tail INTEGER NOT NULL, bytes INTEGER NOT NULL,
  exact_after INTEGER NOT NULL DEFAULT 0, holed INTEGER NOT NULL DEFAULT 0, digested INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, name)
) STRICT;

-- body: one item a line. coalesced: 1 when the row stands for several that were trimmed.
CREATE TABLE journal (
  id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL REFERENCES epochs(id) ON DELETE CASCADE,
  first INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL,
  coalesced INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL
) STRICT;
CREATE INDEX journal_position ON journal (epoch, last);
`;

// Contentless: the text stands in the journal, the index only says where. Ids grow, so the newest match comes first.
const SEARCH = `
CREATE VIRTUAL TABLE search USING fts5 (
  body, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE search_docs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES session_ids(id) ON DELETE CASCADE,
  epoch INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL
) STRICT;
CREATE INDEX search_docs_place ON search_docs (session, epoch, last);
`;

const RECORDS = `
CREATE TABLE prompts (
  session_key TEXT NOT NULL, device TEXT NOT NULL, prompt TEXT NOT NULL, hash TEXT NOT NULL,
  state TEXT NOT NULL, stop_reason TEXT, error TEXT, at INTEGER NOT NULL,
  PRIMARY KEY (session_key, device, prompt)
) STRICT, WITHOUT ROWID;
CREATE INDEX prompts_at ON prompts (at);

CREATE TABLE interactions (
  id TEXT PRIMARY KEY, session_key TEXT, instance TEXT NOT NULL, method TEXT NOT NULL, request TEXT NOT NULL,
  opened_at INTEGER NOT NULL, settled_at INTEGER, settled TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX interactions_open ON interactions (opened_at) WHERE settled_at IS NULL;
CREATE INDEX interactions_session ON interactions (session_key, opened_at);
CREATE INDEX interactions_settled ON interactions (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE devices (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, scopes TEXT NOT NULL, query_allowed INTEGER NOT NULL,
  created_at INTEGER NOT NULL, created_by TEXT, expires_at INTEGER, revoked_at INTEGER, revoked_why TEXT,
  last_seen_at INTEGER, last_address TEXT
) STRICT, WITHOUT ROWID;

-- id and secret_hash are hashes, or the jti of a signed token: nothing here opens a door.
CREATE TABLE credentials (
  id TEXT PRIMARY KEY, device TEXT NOT NULL REFERENCES devices(id) ON DELETE CASCADE, kind TEXT NOT NULL,
  secret_hash TEXT, created_at INTEGER NOT NULL, expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_device ON credentials (device);
CREATE INDEX credentials_expiry ON credentials (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, device TEXT NOT NULL, name TEXT NOT NULL, address TEXT,
  action TEXT NOT NULL, target TEXT, detail TEXT
) STRICT;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
`;

// The index keeps which document has a word, not where in it (`index-text.ts`), and digested rows are packed
// (`packed-body.ts`). Everything counts as not digested: that fills the index anew and packs old rows, in the background.
const SMALLER = `
ALTER TABLE journal ADD COLUMN packed BLOB;
DROP TABLE search;
DELETE FROM search_docs;
CREATE VIRTUAL TABLE search USING fts5 (body, content = '', contentless_delete = 1, detail = none, tokenize = "ascii");
UPDATE epochs SET digested = 0;
`;

// The index's own way to merge its segments does much at once, up to 25 ms: the digest does it in small steps.
const MERGED_BY_HAND = "INSERT INTO search (search, rank) VALUES ('automerge', 0)";

// The audit may lose its beginning (`audit-retention.ts`) and nothing else. An entry names the connection (X13).
const AUDIT_ENDS = `
ALTER TABLE audit ADD COLUMN connection TEXT;
CREATE TABLE audit_head (kept_from INTEGER NOT NULL) STRICT;
INSERT INTO audit_head (kept_from) VALUES (0);
DROP TRIGGER audit_no_delete;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN OLD.id >= (SELECT kept_from FROM audit_head)
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
`;

/** Titles are indexed when they change: those there are now have to be put in again. */
function indexTitles(database: Database): void {
  const addDoc = database.prepare("INSERT INTO search_docs (session, epoch, first, last) VALUES (?, NULL, 0, 0)");
  const addText = database.prepare("INSERT INTO search (rowid, body) VALUES (?, ?)");
  for (const { id, title } of database.prepare("SELECT id, title FROM sessions WHERE title <> ''").all()) {
    if (typeof id === "number" && typeof title === "string")
      addText.run(addDoc.run(id).lastId, indexDocument(title, id));
  }
}

type Step = (database: Database) => void;

const STEPS: readonly Step[] = [
  (database) => database.exec(`${JOURNAL}${SEARCH}${RECORDS}`),
  (database) => {
    database.exec(SMALLER);
    indexTitles(database);
  },
  (database) => database.exec(MERGED_BY_HAND),
  // Joined text stands beside its line (`journal-body.ts`): nothing to do here, but an older program could not read it.
  () => undefined,
  (database) => database.exec(AUDIT_ENDS),
];

export const SCHEMA_VERSION: number = STEPS.length;

function versionOf(database: Database): number {
  const value = database.prepare("PRAGMA user_version").get()?.["user_version"];
  return typeof value === "number" ? value : 0;
}

/** Throws `StoreError` "newer-version": such a file is left as it is. Only reads. */
export function refuseNewer(database: Database): void {
  const found = versionOf(database);
  if (found > SCHEMA_VERSION) {
    throw new StoreError(
      "newer-version",
      `The database was written by a newer acp-hub (its schema is ${found}, this one knows ${SCHEMA_VERSION}). ` +
        "Update acp-hub, or use another directory with --home.",
    );
  }
}

/** Brings the schema up to date; one that is newer is as it is. */
export function migrate(database: Database): void {
  for (let version = versionOf(database); version < SCHEMA_VERSION; version++) {
    database.transaction(() => {
      STEPS[version]?.(database);
      database.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
}
