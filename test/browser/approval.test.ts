import { describe, expect, it } from "vitest";
import { DESKTOP } from "../support/fake-hub-session.ts";
import { COMMAND_ASK, DIFF_ASK, FORM_ASK, OPTIONS, URL_ASK } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };
const ALLOW = { outcome: { outcome: "selected", optionId: "once" } };

describe("approvals", () => {
  it("shows the whole command and the agent's options in its order; the answer names this device", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const answer = session.ask("session/request_permission", COMMAND_ASK);
    await page.locator(".sheet .command", { hasText: "git push origin fix/retry" }).waitFor();
    expect(await page.locator(".option").allTextContents()).toEqual([
      "Allow once",
      "Always allow git in this project",
      "Reject",
    ]);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect(await answer).toMatchObject({ result: ALLOW, by: { name: "Pixel" } });
    await page.getByText(/Allowed by this device \d\d:\d\d/).waitFor();
  });

  it("folds when it was answered in the editor, and says so", async () => {
    const { session, open } = stage();
    const phone = await open("Pixel");
    const other = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    void session.ask("session/request_permission", COMMAND_ASK);
    await phone.getByRole("button", { name: "Allow once" }).waitFor();
    await other.getByRole("button", { name: "Allow once" }).waitFor();
    session.settle("s1-i1", ALLOW, DESKTOP);
    for (const page of [phone, other]) {
      await page
        .getByText(/Allowed by Zed \d\d:\d\d/)
        .first()
        .waitFor();
      await expect.poll(() => page.getByRole("button", { name: "Allow once" }).count(), WAIT).toBe(0);
    }
  });

  it("a tap on the phone dismisses the card on the desk", async () => {
    const { session, open } = stage();
    const phone = await open("Pixel");
    const desk = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    void session.ask("session/request_permission", COMMAND_ASK);
    await desk.locator(".sheet").getByRole("button", { name: "Allow once" }).waitFor();
    await phone.getByRole("button", { name: "Reject" }).waitFor();
    await phone.getByRole("button", { name: "Reject" }).click();
    await desk
      .getByText(/Rejected by Pixel/)
      .first()
      .waitFor();
    await expect.poll(() => desk.locator(".sheet .option").count()).toBe(0);
  });

  it("ignores a tap in the first 300 ms", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    await page.evaluate(() => {
      new MutationObserver((_changes, observer) => {
        const button = document.querySelector<HTMLElement>('.option[data-kind="allow_once"]');
        if (button === null) return;
        observer.disconnect();
        button.click();
        document.body.dataset["tapped"] = "1";
      }).observe(document.body, { childList: true, subtree: true });
    });
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.locator("body[data-tapped]").waitFor();
    expect(session.asks.size).toBe(1);
    await page.locator(".option[data-kind='allow_once'][aria-disabled='false']").click();
    await expect.poll(() => session.asks.size, WAIT).toBe(0);
  });

  it("what holds for ever wants a second tap", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const answer = session.ask("session/request_permission", COMMAND_ASK);
    const always = page.locator(".option[data-kind='allow_always']");
    await page.locator(".option[data-kind='allow_always'][aria-disabled='false']").waitFor();
    await always.click();
    await page.getByText("Tap again").waitFor();
    expect(session.asks.size).toBe(1);
    await always.click();
    expect(await answer).toMatchObject({ result: { outcome: { optionId: "always" } } });
  });

  it("X10 pages through several, none hides another", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    void session.ask("session/request_permission", COMMAND_ASK);
    void session.ask("session/request_permission", DIFF_ASK);
    await page.getByText("1 of 2").waitFor();
    await page.getByRole("button", { name: "Next question" }).click();
    await page.locator(".sheet .diff").waitFor();
    session.settle("s1-i2", ALLOW, DESKTOP);
    await page.locator(".sheet .command", { hasText: "git push origin fix/retry" }).waitFor();
  });

  it("answers all alike in one act: each shown whole, only those shown, never for ever", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const ask = (command: string) =>
      session.ask("session/request_permission", {
        toolCall: { toolCallId: command, title: `Run ${command}`, kind: "execute", rawInput: { command } },
        options: OPTIONS,
      });
    const answers = [ask("git fetch --all"), ask("git status --short")];
    void session.ask("session/request_permission", DIFF_ASK);
    await page.getByRole("button", { name: "Read 2 alike" }).click();
    const alike = page.locator(".alike");
    await expect
      .poll(() => alike.locator(".command").allTextContents(), WAIT)
      .toEqual(["git fetch --all", "git status --short"]);
    await expect.poll(() => alike.locator(".option").allTextContents()).toEqual(["Allow once: all 2", "Reject: all 2"]);
    void ask("rm -rf /");
    await alike.getByText("1 more has come since. It is not among these.").waitFor();
    expect(await alike.getByText("rm -rf /").count()).toBe(0);
    await page.locator(".alike .option[data-kind='allow_once'][aria-disabled='false']").click();
    await page.getByText("Tap again: Allow once: all 2").waitFor();
    expect(session.asks.size).toBe(4);
    await page.getByText("Tap again: Allow once: all 2").click();
    for (const answer of answers) expect(await answer).toMatchObject({ result: ALLOW, by: { name: "Pixel" } });
    await expect.poll(() => session.asks.size, WAIT).toBe(2);
    await page.getByText("1 of 2").waitFor();
  });

  it("answers all alike only once their end was on screen, and starts anew when one is settled elsewhere", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    for (const name of ["a", "b", "c"]) {
      const command = `${`echo ${name} && `.repeat(60)}true`;
      const toolCall = { toolCallId: name, title: `Run ${name}`, kind: "execute", rawInput: { command } };
      void session.ask("session/request_permission", { toolCall, options: OPTIONS });
    }
    await page.getByRole("button", { name: "Read 3 alike" }).click();
    const allow = page.locator(".alike .option[data-kind='allow_once']");
    await page.locator(".alike").getByText("Scroll to the end to allow.").waitFor();
    expect(await allow.isDisabled()).toBe(true);
    await page.locator(".alike .question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
    await expect.poll(() => allow.isDisabled(), WAIT).toBe(false);
    await page.locator(".alike .option[data-kind='allow_once'][aria-disabled='false']").click();
    await page.getByText("Tap again: Allow once: all 3").waitFor();
    await page.locator(".alike .question-body").evaluate((body) => body.scrollTo(0, 0));
    session.settle("s1-i2", ALLOW, DESKTOP);
    await page.getByText("Allow once: all 2", { exact: true }).waitFor();
    expect(session.asks.size).toBe(2);
    await page.locator(".alike .option[data-kind='reject_once'][aria-disabled='false']").click();
    await expect.poll(() => session.asks.size, WAIT).toBe(0);
  });

  it("a part of a diff that is folded has to be opened before it is allowed", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const newText = Array.from({ length: 900 }, (_, index) => `line ${index}`).join("\n");
    const content = [{ type: "diff", path: "a.txt", oldText: "", newText }];
    void session.ask("session/request_permission", {
      toolCall: { toolCallId: "p9", title: "Write a.txt", kind: "edit", content },
      options: OPTIONS,
    });
    await page.getByText("Open all of it and scroll to the end to allow.").waitFor();
    await page.locator(".question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: /more lines/ }).click();
    await page.getByText("Scroll to the end to allow.", { exact: true }).waitFor();
    await page.locator(".question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
    await expect.poll(() => page.getByRole("button", { name: "Allow once" }).isDisabled(), WAIT).toBe(false);
  });

  it("shows everything the agent sent where nothing else says what will happen", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const toolCall = { toolCallId: "p9", title: "deploy", kind: "other", rawInput: { target: "production" } };
    void session.ask("session/request_permission", { toolCall, options: OPTIONS });
    await page.locator(".sheet").getByText('"target": "production"').waitFor();
  });

  it("allows a long command only once its end was on screen", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const command = `${"echo harmless && ".repeat(200)}rm -rf /`;
    const toolCall = { toolCallId: "p9", title: "Run", kind: "execute", rawInput: { command } };
    void session.ask("session/request_permission", { toolCall, options: OPTIONS });
    await page.getByText("Scroll to the end to allow").waitFor();
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole("button", { name: "Reject" }).isDisabled(), WAIT).toBe(false);
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    await page.locator(".question-body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
    await expect.poll(() => page.getByRole("button", { name: "Allow once" }).isDisabled(), WAIT).toBe(false);
  });

  it("shows them in what the agent names, too: title, purpose, path and the options themselves", async () => {
    const { session, open, device } = stage();
    const toolCall = {
      toolCallId: "p9",
      title: "Run a comm\u202eand",
      kind: "edit",
      rawInput: { description: "saf\u200be" },
      content: [{ type: "diff", path: "src/\u202egnp.ts", oldText: "a", newText: "b" }],
    };
    const options = [{ optionId: "no", name: "Re\u2066ject", kind: "reject_once" }];
    void session.ask("session/request_permission", { toolCall, options });
    const page = await open("Pixel");
    await page.locator(".sheet .diff").waitFor();
    const names = await page.locator(".sheet .hidden-char").allTextContents();
    expect(names).toEqual(expect.arrayContaining(["RLO", "ZWSP", "RLO", "LRI"]));
    await page.getByText("This holds invisible characters").waitFor();
    const other = await device("Tablet");
    await expect.poll(() => other.locator(".need-line .hidden-char").allTextContents()).toEqual(["RLO"]);
  });

  it("shows invisible characters by name", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const command = "echo \u202edc.sh\u202c && cat a\u200bb\u0007";
    const toolCall = { toolCallId: "p9", title: "Run", kind: "execute", rawInput: { command } };
    void session.ask("session/request_permission", { toolCall, options: OPTIONS });
    await page.getByText("This holds invisible characters").waitFor();
    expect(await page.locator(".sheet .hidden-char").allTextContents()).toEqual(
      expect.arrayContaining(["RLO", "PDF", "ZWSP", "BEL"]),
    );
  });

  it("fills a form from its schema and says what is wrong", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const answer = session.ask("elicitation/create", FORM_ASK);
    await page.locator(".sheet").getByText("How shall the retry be configured?").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await page.getByText("Fill this in").waitFor();
    await page.getByLabel("Name").fill("retry");
    await page.getByLabel("Fixed").check();
    await page.getByLabel(/At most/).fill("7");
    await page.getByLabel("Add jitter").uncheck();
    await page.getByLabel("429").check();
    await page.locator(".question-form").getByRole("button", { name: "Send" }).click();
    expect((await answer).result).toEqual({
      action: "accept",
      content: { name: "retry", strategy: "fixed", limit: 7, jitter: false, codes: ["429", "503"] },
    });
  });

  it("shows a default instant in this device's time, and sends what was shown", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const properties = {
      at: { type: "string", format: "date-time", title: "First run", default: "2026-12-24T18:00:00Z" },
    };
    const requestedSchema = { type: "object", required: ["at"], properties };
    const ask = { mode: "form", message: "When?", requestedSchema };
    const shown = await page.evaluate(() => {
      const at = new Date("2026-12-24T18:00:00Z");
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    });
    const untouched = session.ask("elicitation/create", ask);
    const field = page.getByLabel("First run");
    await expect.poll(() => field.inputValue(), WAIT).toBe(shown);
    await page.locator(".question-form").getByRole("button", { name: "Send" }).click();
    expect((await untouched).result).toEqual({ action: "accept", content: { at: "2026-12-24T18:00:00Z" } });
    // The next form looks like this one.
    await field.waitFor({ state: "detached" });
    const changed = session.ask("elicitation/create", ask);
    await expect.poll(() => field.inputValue(), WAIT).toBe(shown);
    await field.fill(shown.replace("2026", "2027"));
    await page.locator(".question-form").getByRole("button", { name: "Send" }).click();
    expect((await changed).result).toEqual({ action: "accept", content: { at: "2027-12-24T18:00:00.000Z" } });
  });

  it("gives a keyboard with a minus where a number may be below nothing", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const properties = {
      degrees: { type: "integer", title: "Degrees" },
      share: { type: "number", title: "Share", minimum: 0, maximum: 1 },
      count: { type: "integer", title: "Count", minimum: 1 },
    };
    void session.ask("elicitation/create", {
      mode: "form",
      message: "How?",
      requestedSchema: { type: "object", properties },
    });
    const modeOf = (name: string) => page.getByLabel(name).getAttribute("inputmode");
    expect(await modeOf("Degrees")).toBe(null);
    expect(await modeOf("Share")).toBe("decimal");
    expect(await modeOf("Count")).toBe("numeric");
  });

  it.each([
    ["Decline", "decline"],
    ["Dismiss", "cancel"],
  ])("%s answers a form with %s", async (name, action) => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const answer = session.ask("elicitation/create", FORM_ASK);
    await page.getByRole("button", { name }).waitFor();
    await page.getByRole("button", { name }).click();
    expect((await answer).result).toEqual({ action });
  });

  it("X12 opens a page only on purpose, with its host in sight", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const answer = session.ask("elicitation/create", URL_ASK);
    await page.locator(".link-host", { hasText: "login.example.org" }).waitFor();
    await page.context().route("https://login.example.org/**", (route) => route.fulfill({ body: "ok" }));
    await page.getByRole("link", { name: "Open login.example.org" }).click();
    expect((await answer).result).toEqual({ action: "accept" });
  });

  it("answers from the home screen without a session socket", async () => {
    const { session, device } = stage();
    const page = await device("Pixel");
    const answer = session.ask("session/request_permission", COMMAND_ASK);
    await page.getByRole("button", { name: /Push the branch/ }).click();
    await page.locator(".option[data-kind='allow_once'][aria-disabled='false']").click();
    expect(await answer).toMatchObject({ result: ALLOW, by: { name: "Pixel" } });
    await page
      .locator(".home .settled-strip")
      .getByText(/^Allowed by this device \d\d:\d\d$/)
      .waitFor();
    await expect.poll(() => page.locator(".need-line").count()).toBe(0);
  });

  it("says on one line who settled a question, however long its words are", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    const message = "How shall the retry be configured? It applies to every connection of the relay.";
    void session.ask("elicitation/create", { ...FORM_ASK, message });
    await page.locator(".sheet .question").waitFor();
    session.settle("s1-i1", { action: "decline" }, DESKTOP);
    const who = page.locator(".settled-strip strong", { hasText: /^Declined by Zed \d\d:\d\d$/ });
    await who.waitFor();
    expect((await who.boundingBox())?.height).toBeLessThan(30);
  });

  it("says on the home screen, too, that somebody was faster", async () => {
    const { session, device, hub } = stage();
    const page = await device("Pixel");
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.getByRole("button", { name: /Push the branch/ }).click();
    const allow = page.locator(".option[data-kind='allow_once'][aria-disabled='false']");
    await allow.waitFor();
    // Settled while nobody has told this page.
    session.asks.clear();
    await allow.click();
    await page
      .locator(".home .settled-strip")
      .getByText(/^Answered by Zed .* Yours came later\.$/)
      .waitFor();
    expect(hub.requests.filter((request) => request.startsWith("POST /api/interactions"))).toHaveLength(1);
  });

  it("is an alert dialog that leaves the focus where it is, and gives it back after a decision by keyboard", async () => {
    const { session, open } = stage();
    const page = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    const field = page.getByLabel("Message to the agent");
    await field.focus();
    const answers = [
      session.ask("session/request_permission", COMMAND_ASK),
      session.ask("session/request_permission", DIFF_ASK),
    ];
    const dialog = page.getByRole("alertdialog", { name: "Push the branch" });
    await dialog.waitFor();
    const focused = (): Promise<string> =>
      page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.className ?? "",
      );
    expect(await focused()).toBe("Message to the agent");
    await page.locator(".option[data-kind='reject_once'][aria-disabled='false']").waitFor();
    await page.keyboard.press("Shift+Tab");
    await expect.poll(() => dialog.evaluate((card) => card.contains(document.activeElement))).toBe(true);
    await page.keyboard.press("Enter");
    await answers[0];
    await page.getByRole("alertdialog", { name: "Write src/pool.ts" }).waitFor();
    await expect.poll(focused, WAIT).toBe("sheet-fold");
    await page.locator(".option[data-kind='reject_once'][aria-disabled='false']").waitFor();
    await page.keyboard.press("d");
    await page.keyboard.press("Enter");
    await answers[1];
    await expect.poll(focused, WAIT).toBe("Message to the agent");
  });

  it("a watching device sees the question and cannot answer", async () => {
    const { session, open } = stage();
    const page = await open("Pixel", { preset: "viewer" });
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.getByText("This device may watch, not answer.").waitFor();
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
  });
});
