/** Who is in a session: how many at the top of it, who they are and what they do in its menu. */
import type { ReactElement } from "react";
import type { Attendant, SessionClient, Typist } from "../../client/index.ts";
import type { TurnNotice } from "../../protocol/hub-methods.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";

/** This device's own id, once the hub told it; without a link, too. */
export function useOwnDevice(): string | undefined {
  const { access, client } = useServices();
  const connection = useObservable(client.connection.state);
  const known = useObservable(access.access);
  if (connection.kind === "ready" && connection.info.deviceId !== undefined) return connection.info.deviceId;
  return known.kind === "paired" ? known.self?.id : undefined;
}

export interface AttendantsChipProps {
  readonly attendants: readonly Attendant[];
  readonly onClick: () => void;
}

export function AttendantsChip({ attendants, onClick }: AttendantsChipProps): ReactElement | null {
  if (attendants.length < 2) return null;
  const names = attendants.map((attendant) => attendant.name).join(", ");
  return (
    <button type="button" className="chip attendants" title={names} aria-haspopup="dialog" onClick={onClick}>
      <Icon name="users" small /> {attendants.length}
      <span className="hidden-text"> attached: {names}</span>
    </button>
  );
}

export interface AttendantListProps {
  readonly session: SessionClient;
  readonly attendants: readonly Attendant[];
  readonly turn: TurnNotice;
}

export function AttendantList({ session, attendants, turn }: AttendantListProps): ReactElement {
  const typists = useObservable(session.typists);
  const own = useOwnDevice();
  return (
    <ul className="plain attendant-list">
      {attendants.map((attendant) => (
        <li key={attendant.connectionId}>
          <bdi>{attendant.name}</bdi>
          {rolesOf(attendant, turn, typists, own).map((role) => (
            <span key={role} className={role === DRIVES ? "chip accent" : "chip"}>
              {role}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

const DRIVES = "drives";

function rolesOf(
  { connectionId, device, isPrimary }: Attendant,
  turn: TurnNotice,
  typists: readonly Typist[],
  own: string | undefined,
): readonly string[] {
  const isDriving = turn.state !== "idle" && turn.by?.connectionId === connectionId;
  const isTyping = typists.some((typist) => typist.connectionId === connectionId);
  return [
    ...(isPrimary ? ["editor"] : []),
    ...(own !== undefined && device === own ? ["this device"] : []),
    ...(isDriving ? [DRIVES] : []),
    ...(isTyping ? ["typing"] : []),
  ];
}

/** Undefined while nobody writes. */
export function typingText(typists: readonly Typist[]): string | undefined {
  const [first, second] = typists;
  if (first === undefined) return undefined;
  if (second === undefined) return `${first.name} is typing…`;
  return typists.length === 2 ? `${first.name} and ${second.name} are typing…` : `${typists.length} people are typing…`;
}
