/** Starts a session: with an agent that runs, or with a new one in an allowed workspace. */
import { type ReactElement, useState } from "react";
import type { Instance } from "../../client/index.ts";
import { useLoaded, useObservable, useServices } from "../app/hooks.ts";
import type { Services } from "../app/services.ts";
import { useRights } from "../session/use-rights.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { baseName } from "../ui/path.ts";

/** How long the connection may take before a person is told. */
const CONNECT_MS = 15_000;

export function NewSession({ onClose }: { readonly onClose: () => void }): ReactElement {
  const services = useServices();
  const { instances } = useObservable(services.home.state);
  const canCreate = useRights()("instances:create");
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<string>();
  const start = (name: string, work: () => Promise<void>): void => {
    setBusy(name);
    setError(undefined);
    work().then(onClose, (reason: unknown) => {
      setBusy(undefined);
      setError(reason instanceof Error ? reason.message : "That did not work");
    });
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{error}</Notice>}
      <section>
        <h3 className="field-label">With a running agent</h3>
        {instances.length === 0 && <p className="muted">No agent runs. Start one in your editor.</p>}
        <ul className="plain menu">
          {instances.map((instance) => (
            <li key={instance.id}>
              <button
                type="button"
                disabled={busy !== undefined}
                onClick={() => start(instance.id, () => beginIn(services, instance.id, instance.workspace))}
              >
                {busy === instance.id ? <span className="spinner" /> : <Icon name="plus" />}
                <InstanceName instance={instance} />
              </button>
            </li>
          ))}
        </ul>
      </section>
      {canCreate && <Workspaces busy={busy} onStart={(path) => start(path, () => beginNew(services, path))} />}
    </Dialog>
  );
}

function InstanceName({ instance }: { readonly instance: Instance }): ReactElement {
  return (
    <span className="session-row-main">
      <span className="truncate">{baseName(instance.workspace)}</span>
      <span className="session-row-place truncate">
        {instance.name} · {instance.origin === "editor" ? "in an editor" : "started by the hub"}
      </span>
    </span>
  );
}

function Workspaces({
  busy,
  onStart,
}: {
  readonly busy: string | undefined;
  readonly onStart: (path: string) => void;
}): ReactElement {
  const { api } = useServices();
  const projects = useLoaded(() => api.projects(), [api]);
  return (
    <section>
      <h3 className="field-label">With a new agent in</h3>
      {projects.error !== undefined && <p className="muted">{projects.error}</p>}
      {projects.value?.length === 0 && <p className="muted">No workspace is known yet.</p>}
      <ul className="plain menu">
        {projects.value?.map((path) => (
          <li key={path}>
            <button type="button" disabled={busy !== undefined} onClick={() => onStart(path)}>
              {busy === path ? <span className="spinner" /> : <Icon name="folder" />}
              <span className="session-row-main">
                <span className="truncate">{baseName(path)}</span>
                <span className="session-row-place truncate">{path}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function beginIn({ client, keeper, router }: Services, instance: string, cwd: string): Promise<void> {
  client.start();
  await connected(client);
  const session = await client.newSession({ cwd, instance });
  // Held by the screen that opens now; the hold here bridges the step.
  const { release } = keeper.hold(session.sessionId, instance);
  router.go({ screen: "session", sessionId: session.sessionId, instanceId: instance });
  setTimeout(release, 2000);
}

async function beginNew(services: Services, workspace: string): Promise<void> {
  const instance = await services.api.startInstance(workspace);
  await beginIn(services, instance, workspace);
}

function connected(client: Services["client"]): Promise<void> {
  const { state } = client.connection;
  return new Promise((resolve, reject) => {
    let unsubscribe: () => void = () => undefined;
    const timer = setTimeout(() => finish(() => reject(new Error("The hub does not answer"))), CONNECT_MS);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      unsubscribe();
      settle();
    };
    const look = (): void => {
      if (state.value.kind === "ready") finish(resolve);
      else if (state.value.kind === "stopped") finish(() => reject(new Error("The hub refused the connection")));
    };
    unsubscribe = state.subscribe(look);
    look();
  });
}
