/** When a device wants to be left alone: a time of day where it lives, every day. Pure. */
import { isObject, type Json, stringAt } from "./json.ts";

export interface QuietHours {
  /** "HH:MM", included. */
  readonly from: string;
  /** "HH:MM", no longer included; earlier than `from`: on the next day. */
  readonly to: string;
  /** IANA name, the device's own. */
  readonly timeZone: string;
  /** An agent that waits for an answer is told of all the same. */
  readonly letsQuestionsThrough: boolean;
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Quiet hours as a client gives them, or what is wrong with them. */
export function readQuietHours(value: Json | undefined): QuietHours | string {
  if (!isObject(value)) return '"quietHours" must be an object, or null for none';
  const [from, to, timeZone] = [stringAt(value, "from"), stringAt(value, "to"), stringAt(value, "timeZone")];
  if (from === undefined || !TIME.test(from)) return '"quietHours.from" must be a time, HH:MM';
  if (to === undefined || !TIME.test(to)) return '"quietHours.to" must be a time, HH:MM';
  if (from === to) return '"quietHours.to" must be another time than "quietHours.from"';
  if (timeZone === undefined || !isTimeZone(timeZone))
    return '"quietHours.timeZone" must be a time zone, as Europe/Berlin';
  return { from, to, timeZone, letsQuestionsThrough: value["letsQuestionsThrough"] === true };
}

/** True when `at` (epoch milliseconds) lies in the quiet hours, by the clock of their time zone. */
export function isQuietAt({ from, to, timeZone }: QuietHours, at: number): boolean {
  const time = clockOf(timeZone).format(at);
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** "HH:MM" sorts as time does. */
const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function isTimeZone(name: string): boolean {
  try {
    return name.length <= 64 && clockOf(name) !== undefined;
  } catch {
    return false;
  }
}
