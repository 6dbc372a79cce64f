/**
 * Ids of the hub's event stream, `<epoch>.<number>`: numbers grow within an epoch, which is one run of a hub. Answers about what the
 * stream tells of carry the last one that is in them.
 */
export const EVENT_ID_HEADER = "Acp-Event-Id";

export const eventId = (epoch: string, number: number): string => `${epoch}.${number}`;

/** What was read at `position` has the event `id` in it. Ids nobody can read have nothing in common. */
export function includesEvent(position: string, id: string): boolean {
  const [at, event] = [readId(position), readId(id)];
  return at !== undefined && event !== undefined && at.epoch === event.epoch && at.number >= event.number;
}

function readId(id: string): { readonly epoch: string; readonly number: number } | undefined {
  const dot = id.lastIndexOf(".");
  const number = Number(id.slice(dot + 1));
  return dot > 0 && dot < id.length - 1 && Number.isSafeInteger(number)
    ? { epoch: id.slice(0, dot), number }
    : undefined;
}
