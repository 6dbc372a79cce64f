/** Paired devices: what each may do, when it was here, and how to send it away. */
import { type ReactElement, useState } from "react";
import type { Device } from "../../client/index.ts";
import { scopesOf } from "../app/access.ts";
import { useHubNow, useLoaded, useObservable, useServices } from "../app/hooks.ts";
import { useRights } from "../session/use-rights.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { RenameForm } from "../ui/rename-form.tsx";
import { ago, fullTime } from "../ui/time.ts";
import { PairAnother } from "./pair-another.tsx";

export function DevicesScreen(): ReactElement {
  const { api, access } = useServices();
  const devices = useLoaded(() => api.devices(), [api]);
  const scopes = scopesOf(useObservable(access.access));
  const isAdmin = useRights()("admin");
  const [isPairing, setPairing] = useState(false);
  const [edited, setEdited] = useState<Device>();
  const closeAndReload = (): void => {
    setEdited(undefined);
    devices.reload();
  };
  return (
    <Page title="Devices" isBusy={devices.isLoading}>
      {devices.error !== undefined && <Notice tone="danger">{devices.error}</Notice>}
      {isAdmin && (
        <button type="button" className="button primary wide" onClick={() => setPairing(true)}>
          <Icon name="plus" /> Pair another device
        </button>
      )}
      <ul className="plain card-list">
        {devices.value?.map((device) => (
          <DeviceLine key={device.id} device={device} onEdit={() => setEdited(device)} />
        ))}
      </ul>
      <button type="button" className="button quiet" onClick={() => void access.logout()}>
        <Icon name="logout" /> Unpair this device
      </button>
      {isPairing && <PairAnother scopes={scopes} onClose={() => setPairing(false)} />}
      {edited !== undefined && (
        <EditDevice device={edited} onDone={closeAndReload} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}

function DeviceLine({ device, onEdit }: { readonly device: Device; readonly onEdit: () => void }): ReactElement {
  const now = useHubNow(30_000);
  const seen =
    device.lastSeenAt === 0
      ? "never seen"
      : `seen ${ago(device.lastSeenAt, now) === "now" ? "just now" : `${ago(device.lastSeenAt, now)} ago`}`;
  return (
    <li className="device">
      <Icon name={device.kind === "token" ? "code" : "devices"} />
      <span className="session-row-main">
        <span className="device-name">
          <span className="session-row-title truncate">{device.name}</span>
          {device.isSelf && <span className="chip accent">this device</span>}
        </span>
        <span className="session-row-place">
          {scopeWords(device)} · <span title={fullTime(device.lastSeenAt)}>{seen}</span>
          {device.address !== undefined && ` · ${device.address}`}
        </span>
      </span>
      <IconButton icon="more" label={`Manage ${device.name}`} onClick={onEdit} />
    </li>
  );
}

function scopeWords({ scopes }: Device): string {
  if (scopes.includes("admin")) return "everything";
  if (scopes.includes("sessions:prompt")) return "drives";
  return scopes.includes("interactions:answer") ? "watches and approves" : "watches";
}

interface EditDeviceProps {
  readonly device: Device;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function EditDevice({ device, onDone, onClose }: EditDeviceProps): ReactElement {
  const { api, access } = useServices();
  const [isSure, setSure] = useState(false);
  const [error, setError] = useState<string>();
  const run = (work: Promise<void>): void => {
    work.then(onDone, (reason: unknown) => setError(reason instanceof Error ? reason.message : "That did not work"));
  };
  const revoke = (): void => {
    if (!isSure) setSure(true);
    else run(api.revokeDevice(device.id).then(() => (device.isSelf ? access.revoked() : undefined)));
  };
  return (
    <Dialog title={device.name} onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{error}</Notice>}
      <RenameForm
        label="Name of the device"
        name={device.name}
        maxLength={60}
        onRename={(name) => run(api.renameDevice(device.id, name))}
      />
      <dl className="facts">
        <dt>May</dt>
        <dd>{device.scopes.join(", ")}</dd>
        <dt>Paired</dt>
        <dd>{fullTime(device.createdAt)}</dd>
        <dt>Last seen</dt>
        <dd>
          {fullTime(device.lastSeenAt)} {device.address}
        </dd>
      </dl>
      <button type="button" className="button danger wide" onClick={revoke}>
        <Icon name="trash" /> {isSure ? "Tap again to revoke. It is cut off at once" : "Revoke"}
      </button>
    </Dialog>
  );
}
