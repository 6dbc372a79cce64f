/** Can this device reach the hub well? Measured from here, with one report to copy. */
import { type ReactElement, useEffect } from "react";
import { VERSION } from "../../protocol/version.ts";
import { useLoaded, useObservable, useServices } from "../app/hooks.ts";
import type { Services } from "../app/services.ts";
import { type Check, readPushState } from "../notifications/push.ts";
import { CheckList } from "../ui/check-list.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { type Measured, measure } from "./measure.ts";

/** The socket is opened for the measurement and given this long. */
const SOCKET_MS = 5000;

export function DiagnosticsScreen(): ReactElement {
  const services = useServices();
  const connection = useObservable(services.client.connection.state);
  useEffect(() => services.client.start(), [services]);
  const measured = useLoaded(() => measureAll(services), [services]);
  const hubVersion = connection.kind === "ready" ? (connection.info.version ?? "unknown") : "unknown";
  const facts = [["App", VERSION], ["Hub", hubVersion], ...(measured.value?.facts ?? [])] as const;
  return (
    <Page title="Diagnostics" isBusy={measured.isLoading} backHref="#/settings">
      {measured.error !== undefined && <Notice tone="danger">{measured.error}</Notice>}
      {measured.isLoading && measured.value === undefined && <p className="muted">Measuring…</p>}
      {measured.value !== undefined && <CheckList checks={measured.value.checks} />}
      <dl className="facts">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name ?? ""} value={value ?? ""} />
        ))}
      </dl>
      <div className="row-actions">
        <button type="button" className="button" disabled={measured.isLoading} onClick={measured.reload}>
          <Icon name="refresh" /> Measure again
        </button>
        {measured.value !== undefined && (
          <CopyButton text={report(measured.value.checks, facts)} label="Copy the report" isNamed />
        )}
      </div>
    </Page>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): ReactElement {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

async function measureAll({ api, client }: Services): Promise<Measured> {
  await socketReady(client);
  const measured = await measure(api, client);
  const push = await readPushState(api);
  return {
    ...measured,
    checks: [...measured.checks, ...push.checks.map((check) => ({ ...check, name: `Push: ${check.name}` }))],
  };
}

/** Resolves when the socket is up, or when it had its time: the measurement then says that it is not. */
function socketReady(client: Services["client"]): Promise<void> {
  const { state } = client.connection;
  return new Promise((resolve) => {
    let unsubscribe: () => void = () => undefined;
    const finish = (): void => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(finish, SOCKET_MS);
    unsubscribe = state.subscribe(() => state.value.kind === "ready" && finish());
    if (state.value.kind === "ready") finish();
  });
}

function report(checks: readonly Check[], facts: readonly (readonly string[])[]): string {
  const lines = checks.map(
    (check) => `${check.state === "ok" ? "ok  " : check.state === "bad" ? "FAIL" : "open"} ${check.name}`,
  );
  return [...lines, "", ...facts.map(([name, value]) => `${name}: ${value}`), `Time: ${new Date().toISOString()}`].join(
    "\n",
  );
}
