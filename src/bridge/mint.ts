/** Ids for the core. Random: unique for ever, over every restart (R2). */
import { randomBytes, randomUUID } from "node:crypto";
import type { Mint } from "../core/root/ports.ts";
import { epoch, interactionId } from "../protocol/ids.ts";

export const randomMint: Mint = {
  interactionId: () => interactionId(`i_${randomBytes(12).toString("base64url")}`),
  epoch: () => epoch(randomBytes(6).toString("base64url")),
  promptId: () => `q_${randomBytes(9).toString("base64url")}`,
  messageId: () => `u_${randomUUID()}`,
};
