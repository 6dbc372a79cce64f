/** Small files nobody else may read: keys, certificates, what belongs to a device. */
import { randomBytes } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file whole, 0600: a crash or a power cut leaves the old one or the new one, never half of one. Once this has
 * resolved, it is the new one. Rejects when the disk does; then the old one is as it was.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: "wx", flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** The new name stands in the directory, which has to reach the disk by itself. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } catch {
    // Some network file systems sync no directory. SQLite goes on there, too.
  } finally {
    await directory.close();
  }
}
