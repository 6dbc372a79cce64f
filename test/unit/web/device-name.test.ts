import { expect, it } from "vitest";
import { guessDeviceName } from "../../../src/web/platform/device-name.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36";

it.each([
  ["moto g power (2022)", `Mozilla/5.0 (Linux; Android 11; moto g power (2022)) ${WEBKIT}`],
  ["Pixel 9", `Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP4A) ${WEBKIT}`],
  ["Chrome on Android", `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT}`],
  ["Firefox on Android", "Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0"],
  [
    "iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
  ],
  [
    "Safari on Mac",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
  ],
  ["Edge on Windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Edg/130.0.0.0`],
])("%s is what this device may be called", (name, agent) => {
  expect(guessDeviceName(agent)).toBe(name);
});
