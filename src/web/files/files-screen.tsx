/** The files of a session's workspace, to read. */
import { type ReactElement, useEffect, useState } from "react";
import type { FileEntry } from "../../client/index.ts";
import { useLoaded, useServices } from "../app/hooks.ts";
import { hrefOf } from "../app/route.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { baseName } from "../ui/path.ts";
import { FileView } from "./file-view.tsx";

export interface FilesScreenProps {
  readonly sessionId: string;
  readonly instanceId: string;
  readonly path: string;
}

export function FilesScreen({ sessionId, instanceId, path }: FilesScreenProps): ReactElement {
  const { api } = useServices();
  // Whether a path is a folder is only known by asking: a file is what cannot be listed.
  const listed = useLoaded(
    () => api.listFiles(instanceId, sessionId, path).catch(() => undefined),
    [api, instanceId, sessionId, path],
  );
  const [isFile, setFile] = useState(false);
  useEffect(() => setFile(!listed.isLoading && listed.value === undefined && path !== ""), [listed, path]);
  const back = hrefOf({ screen: "session", sessionId, instanceId });
  return (
    <Page title={path === "" ? "Files" : baseName(path)} isBusy={listed.isLoading} backHref={back}>
      <Crumbs sessionId={sessionId} instanceId={instanceId} path={path} />
      {listed.value === undefined && path === "" && !listed.isLoading && (
        <Notice tone="warn">The files of this session cannot be read.</Notice>
      )}
      {listed.value !== undefined && <Folder entries={listed.value} sessionId={sessionId} instanceId={instanceId} />}
      {isFile && <FileView sessionId={sessionId} instanceId={instanceId} path={path} />}
    </Page>
  );
}

interface FolderProps {
  readonly entries: readonly FileEntry[];
  readonly sessionId: string;
  readonly instanceId: string;
}

function Folder({ entries, sessionId, instanceId }: FolderProps): ReactElement {
  const sorted = [...entries].sort(
    (a, b) => Number(b.isDirectory) - Number(a.isDirectory) || a.name.localeCompare(b.name),
  );
  if (sorted.length === 0) return <p className="muted">This folder is empty.</p>;
  return (
    <ul className="plain card-list file-list">
      {sorted.map((entry) => (
        <li key={entry.path}>
          <a href={hrefOf({ screen: "files", sessionId, instanceId, path: entry.path })}>
            <Icon name={entry.isDirectory ? "folder" : "file"} />
            <span className="truncate">{entry.name}</span>
          </a>
          {entry.size !== undefined && !entry.isDirectory && <span className="muted">{sizeText(entry.size)}</span>}
        </li>
      ))}
    </ul>
  );
}

function Crumbs({ sessionId, instanceId, path }: FilesScreenProps): ReactElement | null {
  if (path === "") return null;
  const parts = path.split("/").filter((part) => part !== "");
  const root = path.startsWith("/") ? "/" : "";
  return (
    <nav className="crumbs mono" aria-label="Path">
      <a href={hrefOf({ screen: "files", sessionId, instanceId, path: "" })}>Workspace</a>
      {parts.slice(0, -1).map((part, index) => {
        const to = root + parts.slice(0, index + 1).join("/");
        return (
          <span key={to}>
            / <a href={hrefOf({ screen: "files", sessionId, instanceId, path: to })}>{part}</a>
          </span>
        );
      })}
      <span>/ {parts.at(-1)}</span>
    </nav>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
