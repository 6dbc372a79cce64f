import { beforeEach, describe, expect, test } from "vitest";
import { BrowserSessions, clearedCookie, cookieValues } from "../../../src/auth/grants/cookie-key.ts";
import { Tickets } from "../../../src/auth/grants/tickets.ts";
import { LOCAL_OWNER, type Principal } from "../../../src/auth/principal.ts";
import { deviceId } from "../../../src/protocol/ids.ts";
import { MemoryDevices } from "../../../src/store/memory/devices.ts";
import { countedRandom } from "../../support/auth-fixture.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { device } from "../../support/store-samples.ts";

const PHONE = deviceId("phone");
const principal = (id: string): Principal => ({ ...LOCAL_OWNER, deviceId: deviceId(id) });

describe("tickets", () => {
  let clock: ManualClock;
  let tickets: Tickets;
  beforeEach(() => {
    clock = new ManualClock();
    tickets = new Tickets(clock, countedRandom());
  });

  test("C2.carriers, incident 18: a ticket is good for one use and half a minute", async () => {
    const { ticket, expiresIn } = tickets.issue(principal("phone"));
    expect(expiresIn).toBe(30);
    expect(tickets.take(ticket)).toEqual(principal("phone"));
    expect(tickets.take(ticket)).toMatchObject({ code: "invalid-credential" });
    const late = tickets.issue(principal("phone"));
    await clock.advance(30_000);
    expect(tickets.take(late.ticket)).toMatchObject({ code: "expired-credential" });
  });

  test("C2.carriers a clock that is set back keeps no ticket alive, one set ahead ends it", async () => {
    const { ticket } = tickets.issue(principal("phone"));
    clock.set(-86_400_000);
    await clock.advance(30_000);
    expect(tickets.take(ticket)).toMatchObject({ code: "expired-credential" });
    const other = tickets.issue(principal("phone"));
    clock.set(3_600_000);
    expect(tickets.take(other.ticket)).toMatchObject({ code: "expired-credential" });
  });

  test("tickets are bounded per device and in all, the oldest going first", () => {
    const own = Array.from({ length: 65 }, () => tickets.issue(principal("phone")).ticket);
    expect(tickets.openCount).toBe(64);
    expect(tickets.take(own[0] ?? "")).toMatchObject({ code: "invalid-credential" });
    for (let n = 0; n < 5_000; n++) tickets.issue(principal(`device ${n}`));
    expect(tickets.openCount).toBeLessThanOrEqual(4_096);
  });

  test("ended tickets are no load", async () => {
    for (let n = 0; n < 50; n++) tickets.issue(principal("phone"));
    await clock.advance(30_000);
    tickets.issue(principal("phone"));
    expect(tickets.openCount).toBe(1);
  });
});

describe("browser sessions", () => {
  const clock = new ManualClock();
  const store = new MemoryDevices();
  const sessions = new BrowserSessions(store, clock, countedRandom());
  store.putDevice(device("phone"));
  const options = { port: 8377, basePath: "", isSecure: false };
  const cookieOf = (setCookie: string): string => /^acp-hub-8377=([^;]+);/.exec(setCookie)?.[1] ?? "";

  test("C2.carriers, incident 15: the cookie is hidden from scripts, sent to its own site only, and secure under TLS", () => {
    expect(sessions.issue(PHONE, options).setCookie).toMatch(
      /^acp-hub-8377=[A-Za-z0-9_-]{43}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const secure = sessions.issue(PHONE, { port: 443, basePath: "/hub", isSecure: true }).setCookie;
    expect(secure).toMatch(/^acp-hub-443=[^;]+; Max-Age=\d+; Path=\/hub; HttpOnly; SameSite=Strict; Secure$/);
    expect(clearedCookie(options)).toBe("acp-hub-8377=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict");
  });

  test("C2.carriers cookie and key are worth nothing alone or with another's", () => {
    const mine = sessions.issue(PHONE, options);
    const other = sessions.issue(PHONE, options);
    expect(sessions.find([cookieOf(mine.setCookie)], mine.key)).toEqual({ deviceId: PHONE });
    expect(sessions.find([cookieOf(mine.setCookie)], undefined)).toMatchObject({ code: "key-missing" });
    expect(sessions.find([cookieOf(mine.setCookie)], other.key)).toMatchObject({ code: "invalid-credential" });
    expect(sessions.find([mine.key], cookieOf(mine.setCookie))).toMatchObject({ code: "expired-credential" });
    expect(sessions.find([], mine.key)).toMatchObject({ code: "expired-credential" });
  });

  test("C2.carriers a cookie of the same name that another port set does not hide ours", () => {
    const { setCookie, key } = sessions.issue(PHONE, options);
    const header = `theme=dark; acp-hub-8377=tossed; xacp-hub-8377=no; acp-hub-8377=${cookieOf(setCookie)}; acp-hub-837=x`;
    const values = cookieValues(header, "acp-hub-8377");
    expect(values).toEqual(["tossed", cookieOf(setCookie)]);
    expect(sessions.find(values, key)).toEqual({ deviceId: PHONE });
    expect(cookieValues("acp-hub-8377=x; ".repeat(1_000), "acp-hub-8377")).toHaveLength(4);
  });

  test("C2.tokens nothing that is stored opens anything", () => {
    const { setCookie, key } = sessions.issue(PHONE, options);
    const stored = JSON.stringify(store.listCredentials(PHONE));
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(cookieOf(setCookie));
    for (const { id, secretHash } of store.listCredentials(PHONE)) {
      expect(sessions.find([id], secretHash)).toMatchObject({ status: 401, code: "expired-credential" });
    }
  });
});
