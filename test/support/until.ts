/** Waiting for what nobody announces: a look now and then, until it is so. */

/** Throws when it has not come true in time. `what` names it. */
export async function until(what: string | (() => string), isTrue: () => boolean, limitMs = 15_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
