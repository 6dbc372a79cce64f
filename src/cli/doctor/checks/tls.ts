/** Whether the certificate is there, fits its key, is in time, and is good for the names in use. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { DoctorContext } from "../context.ts";
import { type Check, type Finding, fail, ok, warn } from "../finding.ts";

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

export const tls: Check<DoctorContext> = {
  id: "tls",
  async run({ configuration: { config }, paths, now }) {
    const { cert, key, selfSigned } = config.tls;
    if (cert !== undefined && key !== undefined) return judge(cert, key, config.publicUrl, now());
    if (!selfSigned) return [ok("TLS is left to a proxy or tunnel, or not needed on this computer alone")];
    const own = join(paths.keysDir, "tls.crt");
    const there = await readFile(own).catch(() => undefined);
    // The hub makes it, and makes it anew in time.
    if (there === undefined) return [ok("the hub makes its certificate when it starts")];
    return judge(own, join(paths.keysDir, "tls.key"), undefined, now());
  },
};

async function judge(
  certFile: string,
  keyFile: string,
  publicUrl: string | undefined,
  now: number,
): Promise<Omit<Finding, "id">[]> {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(await readFile(certFile));
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile))))
      return [fail(`${keyFile} is not the key of ${certFile}`, "give the pair that belongs together")];
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "not PEM";
    return [fail(`the certificate or its key cannot be read (${reason})`, `look at ${certFile} and ${keyFile}`)];
  }
  const end = new Date(certificate.validTo).getTime();
  const days = Math.floor((end - now) / DAY_MS);
  const until = new Date(end).toISOString().slice(0, 10);
  if (new Date(certificate.validFrom).getTime() > now)
    return [fail("the certificate is not valid yet", "look at the clock, or get another one")];
  if (end <= now) return [fail(`the certificate ended on ${until}`, "renew it and restart the hub")];
  const found =
    days < SOON_DAYS ? [warn(`the certificate ends in ${days} day(s)`, "renew it and restart the hub")] : [];
  const name = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  if (name !== undefined && !fits(certificate, name))
    found.push(fail(`the certificate is not good for ${name}`, "get one for the name of publicUrl"));
  return found.length > 0 ? found : [ok(`the certificate is good until ${until}`)];
}

const fits = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
