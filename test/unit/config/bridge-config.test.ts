import { expect, test } from "vitest";
import { bridgeConfigOf } from "../../../src/config/bridge-config.ts";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";

test("I3 C1.config nothing said is the default of the schema", () => {
  const { forms, isAutostart, problems } = bridgeConfigOf({}, {});
  expect([forms, isAutostart, problems]).toEqual([DEFAULT_CONFIG.capabilities.forms, DEFAULT_CONFIG.autostart, []]);
});

test("I3 C1.config the file is heard, and the environment over it", () => {
  const file = { capabilities: { forms: "primary" }, autostart: false };
  expect(bridgeConfigOf(file, {})).toEqual({ forms: "primary", isAutostart: false, problems: [] });
  const env = { ACP_HUB_CAPABILITIES_FORMS: "any", ACP_HUB_AUTOSTART: "Yes" };
  expect(bridgeConfigOf(file, env)).toEqual({ forms: "any", isAutostart: true, problems: [] });
  expect(bridgeConfigOf({}, { ACP_HUB_AUTOSTART: "0" }).isAutostart).toBe(false);
});

test("C1.config what is wrong is named, and an editor gets its agent all the same", () => {
  const { problems, ...config } = bridgeConfigOf({ capabilities: { forms: "all" }, autostart: 7 }, {});
  expect(config).toEqual({ forms: "any", isAutostart: true });
  expect(problems).toEqual([
    'capabilities.forms: "all" must be "any" or "primary"; the default holds',
    "autostart: 7 must be true or false; the default holds",
  ]);
});
