/** The name of a session: who gave it, and whose stays. */
import { afterEach, expect, test } from "vitest";
import { type Harness, harness } from "../../../support/fake-zcode/harness.ts";

let h: Harness;
afterEach(() => h.end());

test("row 142 a name a person gave is not taken back by one that was made up later", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "fix the build"));
  const titled = (title: string, source: string): void => {
    const session = h.fake.sessions.get("sess_1");
    if (session !== undefined) h.fake.event(session, "session.titleUpdated", { title, source });
  };
  const titles = (): unknown[] => h.client.of("session_info_update").map((update) => update["title"]);
  titled("My own name", "custom");
  await h.until("it is told", () => titles().at(-1) === "My own name");
  titled("A made-up name", "generated");
  titled("Another of mine", "custom");
  await h.until("that is told too", () => titles().at(-1) === "Another of mine");
  expect(titles()).not.toContain("A made-up name");
});
